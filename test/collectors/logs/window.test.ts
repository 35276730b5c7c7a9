import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromLineStart, linesOf, since } from '../../../src/collectors/logs/window.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2026-07-20T12:00:00.000Z');

const pad = (value: number, width = 2) => String(value).padStart(width, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A line as each program writes it, on a node whose clock is `zone` minutes east of UTC. */
const FORMS: Readonly<Record<string, (ms: number, zone: number, text: string) => string>> = {
  'containerd (logrus)': (ms, _, text) => `time="${new Date(ms).toISOString()}" level=info msg="${text}"`,
  'containerd (JSON, keys sorted)': (ms, _, text) =>
    JSON.stringify({ level: 'info', msg: text, time: new Date(ms).toISOString() }),
  'journalctl short-iso': (ms, zone, text) => `${localIso(ms, zone)}${offset(zone)} node containerd[812]: ${text}`,
  'kubelet (klog)': (ms, zone, text) => {
    const date = new Date(ms + zone * MINUTE);
    const day = `${pad(date.getUTCMonth() + 1)}${pad(date.getUTCDate())}`;
    return `I${day} ${clock(date)}.${pad(date.getUTCMilliseconds(), 3)}000   25610 kubelet.go:1] "${text}"`;
  },
  'syslog (RFC 3164)': (ms, zone, text) => {
    const date = new Date(ms + zone * MINUTE);
    const day = String(date.getUTCDate()).padStart(2, ' ');
    return `${MONTHS[date.getUTCMonth()]} ${day} ${clock(date)} node dockerd[4]: ${text}`;
  },
};

const clock = (date: Date) =>
  [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(value => pad(value)).join(':');
const localIso = (ms: number, zone: number) => new Date(ms + zone * MINUTE).toISOString().replace('Z', '');
const offset = (zone: number) =>
  `${zone < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(zone) / 60))}${pad(Math.abs(zone) % 60)}`;

/** One line per minute, the last at `end`. */
function logOf(form: string, count: number, zone: number, end = NOW): string {
  const write = FORMS[form];
  if (write === undefined) throw new Error(form);
  return Array.from({ length: count }, (_, index) => {
    const age = count - 1 - index;
    return `${write(end - age * MINUTE, zone, `${age} minutes old`)}\n`;
  }).join('');
}

const agesIn = (text: string) => [...text.matchAll(/(\d+) minutes old/g)].map(([, age]) => Number(age));

describe('the lines of a log since a time', () => {
  describe.each(Object.keys(FORMS))('of %s', form => {
    it.each([0, 120, -480, 345])('are those and no others, where the clock is %i minutes east of UTC', zone => {
      const { body, cut } = since(Buffer.from(logOf(form, 300, zone)), NOW - 30 * MINUTE, NOW + 4000);
      expect(agesIn(body.toString())).toEqual(Array.from({ length: 31 }, (_, index) => 30 - index));
      expect(cut).toBe(true);
    });

    it('are all, or none, where all are younger or older', () => {
      const log = Buffer.from(logOf(form, 50, 0));
      expect(since(log, NOW - 60 * MINUTE, NOW)).toEqual({ body: log, cut: false });
      expect(since(log, NOW + MINUTE, NOW).body.length).toBe(0);
    });
  });

  it.each([60, -300])('are told over the turn of the year, %i minutes east of UTC', zone => {
    for (const end of ['2026-12-31T23:30:00Z', '2027-01-01T00:20:00Z', '2027-01-01T04:50:00Z'].map(text =>
      Date.parse(text),
    )) {
      const log = Buffer.from(logOf('syslog (RFC 3164)', 600, zone, end));
      expect(agesIn(since(log, end - 90 * MINUTE, end).body.toString())).toHaveLength(91);
    }
  });

  it('keep what belongs to them: lines without a time of their own', () => {
    const log = logOf('kubelet (klog)', 60, 0).replaceAll(/\n/g, '\ngoroutine 1 [running]:\n\tmain.main()\n');
    const text = since(Buffer.from(log), NOW - 10 * MINUTE, NOW).body.toString();
    expect(agesIn(text)).toHaveLength(11);
    expect(text.match(/main\.main/g)).toHaveLength(11);
  });

  it('are all of them where no time can be read, and where the last line does not fit the time of the file', () => {
    const strange = Buffer.from('one\ntwo\n');
    expect(since(strange, NOW, NOW).body).toBe(strange);
    // Copied here years later: the zone cannot be told, so nothing may be taken for too old.
    const copied = Buffer.from(logOf('kubelet (klog)', 10, -480));
    expect(since(copied, NOW - 60 * MINUTE, NOW + 40 * MINUTE).body).toEqual(copied);
  });

  it('are found also where a dump of thousands of lines stands between two lines with a time', () => {
    const dump = `goroutine 1 [select]:\n\tmain.go:1\n`.repeat(1500);
    const log = logOf('containerd (logrus)', 40, 0).replace('20 minutes old"\n', `20 minutes old"\n${dump}`);
    const text = since(Buffer.from(log), NOW - 20 * MINUTE, NOW).body.toString();
    expect(agesIn(text)).toHaveLength(21);
    expect(text).toContain(dump);
  });

  it('are the same as a reader of every line would keep, wherever lines without a time stand', () => {
    const gaps = fc.array(fc.record({ minutes: fc.nat({ max: 9 }), more: fc.nat({ max: 3 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.nat({ max: 300 }), (steps, age) => {
        let ms = NOW - steps.reduce((sum, { minutes }) => sum + minutes, 0) * MINUTE;
        const kept: string[] = [];
        const all: string[] = [];
        const from = NOW - age * MINUTE;
        for (const { minutes, more } of steps) {
          ms += minutes * MINUTE;
          const lines = `time="${new Date(ms).toISOString()}" level=info msg="x"\n${'  more\n'.repeat(more)}`;
          all.push(lines);
          if (ms >= from) kept.push(lines);
        }
        const body = since(Buffer.from(all.join('')), from, NOW).body.toString();
        // Behind the last line of all nothing tells how old its further lines are.
        expect(kept.length > 0 ? body : body.replace(/^( {2}more\n)+/, '')).toBe(kept.join(''));
      }),
    );
  });
});

describe('a tail', () => {
  it('starts with its first whole line', () => {
    expect(fromLineStart(Buffer.from('n half\nwhole\n')).toString()).toBe('whole\n');
    expect(fromLineStart(Buffer.from('no end')).toString()).toBe('no end');
  });
});

describe('the lines of one program in a syslog', () => {
  it('are its own, with the further lines of each', () => {
    const log = [
      'Apr  8 07:44:28 node kubelet: E0408 one',
      'Apr  8 07:44:29 node containerd[812]: two',
      '\tof two',
      'Apr  8 07:44:29 node containerd-shim[9]: not ours',
      '\tnor this',
      '2026-04-08T07:44:30.1+00:00 node containerd[812]: three containerd-shim: x',
      '',
    ].join('\n');
    expect(linesOf(Buffer.from(log), 'containerd').toString()).toBe(
      'Apr  8 07:44:29 node containerd[812]: two\n\tof two\n2026-04-08T07:44:30.1+00:00 node containerd[812]: three containerd-shim: x\n',
    );
    expect(linesOf(Buffer.from(log), 'kubelet').toString()).toBe('Apr  8 07:44:28 node kubelet: E0408 one\n');
  });
});
