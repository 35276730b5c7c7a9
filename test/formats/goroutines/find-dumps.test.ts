import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completenessOf } from '../../../src/formats/goroutines/completeness.ts';
import { findDumps } from '../../../src/formats/goroutines/find-dumps.ts';
import { parseGoroutines } from '../../../src/formats/goroutines/parse-goroutines.ts';
import { fixture } from '../fixture.ts';

const RAW = fixture('goroutines/shim-2.3.4-umount-in-delete.raw.log').trimEnd();
const UNFOLDED = fixture('goroutines/shim-2.3.4-umount-in-delete.txt');
const TEXT = UNFOLDED.slice(UNFOLDED.indexOf('=== BEGIN')).trimEnd();
const BEGIN_END = RAW.indexOf('=== BEGIN goroutine stack dump ===') + '=== BEGIN goroutine stack dump ===\\n'.length;

/** As containerd's log has it. */
const whole = {
  text: TEXT,
  complete: true,
  verdict: 'complete',
  pid: 29894,
  time: Date.UTC(2026, 10, 29, 11, 49, 8, 683) + 0.43126,
  unknown: [],
};

/** The samples of containerd 1.6.20 and 2.3.4, each as the line that a shim logs. */
const DUMPS = readdirSync(new URL('../../fixtures/goroutines/', import.meta.url))
  .filter(name => /^shim-.*\.txt$/.test(name))
  .map((name, index) => {
    const file = fixture(`goroutines/${name}`);
    const text = file.slice(file.indexOf('=== BEGIN')).trimEnd();
    const pid = 1000 + index;
    const fields = `namespace=k8s.io path=/run/x pid=${pid} runtime=io.containerd.runc.v2`;
    return { text, pid, line: `time="2026-11-29T11:49:08.5Z" level=info msg=${JSON.stringify(text)} ${fields}` };
  });

/** How pieces of a line come: bare, from `journalctl -o short`, and from `-o json` between entries of another program. */
const ENVELOPES: readonly ((pieces: readonly string[]) => string)[] = [
  pieces => pieces.join('\n'),
  pieces => pieces.map(piece => `Nov 29 11:49:08 node-1 containerd[9]: ${piece}`).join('\n'),
  pieces =>
    pieces
      .flatMap((piece, index) => [
        { _STREAM_ID: 'a', SYSLOG_IDENTIFIER: 'kubelet', _PID: '7', MESSAGE: 'E1129 11:49:08.000001 7 a.go:1] "x"' },
        {
          ...{ _STREAM_ID: 'b', SYSLOG_IDENTIFIER: 'containerd', _PID: '9', MESSAGE: piece },
          ...(index < pieces.length - 1 && { _LINE_BREAK: 'line-max' }),
        },
      ])
      .map(entry => JSON.stringify(entry))
      .join('\n'),
];

const KUBELET = 'time="2026-11-29 11:49:08" level=info msg="E1129 a.go:1] \\"x\\"" component=kubelet stream=stderr';

/** A line of containerd's as k0s logs it (pkg/supervisor/logwriter.go): a full buffer is a chunk, and what is left at its end another. */
function throughK0s(line: string, size: number): readonly string[] {
  const wrap = (text: string, chunk: number | null) =>
    `time="2026-11-29 11:49:08" level=info msg=${JSON.stringify(text)}${chunk === null ? '' : ` chunk=${chunk}`} component=containerd stream=stderr`;
  const full = Math.floor(line.length / size);
  const rest = line.slice(full * size);
  const chunks = Array.from({ length: full }, (_, index) =>
    wrap(line.slice(index * size, (index + 1) * size), index + 1),
  );
  return rest === '' ? chunks : [...chunks, wrap(rest, full === 0 ? null : full + 1)];
}

describe('findDumps', () => {
  it('undoes the quotes of a shim dump in a log, and reads whose it is', () => {
    const [dump, ...others] = findDumps(`time="2026-11-29T11:49:08Z" level=info msg=x\n${RAW}\nlast\n`);
    expect(others).toEqual([]);
    expect(dump).toMatchObject({ ...whole, time: expect.closeTo(whole.time, 3), logLine: 2 });
    expect(dump?.fields.get('namespace')).toBe('k8s.io');
    expect(dump?.fields.get('path')).toMatch(
      /^\/var\/lab\/state\/io\.containerd\.runtime\.v2\.task\/k8s\.io\/[0-9a-f]{64}$/,
    );
  });

  it.each([
    ['journalctl -o json --all', 'split-dump.json', 2],
    ['journalctl -o short', 'split-dump.short', 2],
    ['journalctl -o short-iso', 'split-dump.short-iso', 2],
    ['journalctl -o short-full', 'split-dump.short-full', 2],
    ['journalctl -o short-precise', 'split-dump-without-all.short-precise', 2],
    ['journalctl -o cat', 'split-dump.cat', 2],
  ])('joins what journald has cut, from %s', (_, file, logLine) => {
    const dumps = findDumps(fixture(`journal/${file}`));
    expect(dumps).toHaveLength(1);
    expect(dumps[0]).toMatchObject({ ...whole, time: expect.closeTo(whole.time, 3), logLine });
  });

  it('joins pieces between which other programs wrote', () => {
    const pieces = fixture('journal/split-dump.short').trimEnd().split('\n');
    const mixed = pieces.flatMap(piece => [
      piece,
      'Nov 29 15:16:11 node-1 kubelet[7]: E1129 15:16:11.000001       7 a.go:1] "x"',
    ]);
    expect(findDumps(mixed.join('\n'))[0]).toMatchObject({ text: TEXT, complete: true, pid: 29894 });
  });

  it('does not invent text where journalctl left it out', () => {
    expect(findDumps(fixture('journal/split-dump-without-all.json'))).toEqual([]);
  });

  it('reads a dump with real line ends, bare and behind the prefixes of a journal', () => {
    expect(findDumps(UNFOLDED)[0]).toMatchObject({ text: TEXT, complete: true, pid: null, logLine: 2 });
    const prefixed = [`time="2019-04-17T18:57:21Z" level=info msg="${TEXT}" id=a pid=77`]
      .join('')
      .split('\n')
      .map(line => `Apr 17 18:57:21 node-1 containerd[15506]: ${line}`)
      .join('\n');
    expect(findDumps(`${prefixed}\nApr 17 18:57:22 node-1 containerd[15506]: more`)[0]).toMatchObject({
      text: TEXT,
      complete: true,
      pid: 77,
      time: Date.UTC(2019, 3, 17, 18, 57, 21),
    });
  });

  it('reads what containerd logs as JSON, what docker wraps, and what was quoted once more', () => {
    const json = JSON.stringify({ level: 'info', msg: TEXT, time: '2024-10-05T13:37:04Z' });
    expect(findDumps(json)[0]).toMatchObject({
      text: TEXT,
      complete: true,
      pid: null,
      time: Date.UTC(2024, 9, 5, 13, 37, 4),
    });
    const pieces = RAW.match(/.{1,16384}/g) ?? [];
    const docker = pieces.map((piece, index) =>
      JSON.stringify({
        log: index === pieces.length - 1 ? `${piece}\n` : piece,
        stream: 'stderr',
        time: '2026-11-29T11:49:08Z',
      }),
    );
    expect(docker.length).toBeGreaterThan(1);
    expect(findDumps(docker.join('\n'))[0]).toMatchObject({ text: TEXT, complete: true, pid: 29894 });
    const again = `time="2026-11-29T11:50:00Z" level=info msg=${JSON.stringify(RAW)} source=relay`;
    expect(findDumps(again)[0]).toMatchObject({ text: TEXT, complete: true, pid: 29894 });
  });

  it('finds every dump of a log', () => {
    const log = [RAW, RAW.replace('pid=29894', 'pid=5'), 'x', RAW.replace('pid=29894', 'pid=6')].join('\n');
    expect(findDumps(log).map(({ pid, complete }) => [pid, complete])).toEqual([
      [29894, true],
      [5, true],
      [6, true],
    ]);
  });

  it('says at which goroutine a dump ends that was cut anywhere', () => {
    const ids = [...TEXT.matchAll(/^goroutine (\d+)/gm)].map(([, id]) => Number(id));
    fc.assert(
      fc.property(fc.integer({ min: BEGIN_END, max: RAW.indexOf('=== END') + 10 }), fc.boolean(), (at, followed) => {
        const cut = RAW.slice(0, at);
        const [dump] = findDumps(followed ? `${cut}\ntime="2026-11-29T12:00:00Z" level=info msg="next"\n` : cut);
        const seen = [...cut.matchAll(/\\ngoroutine (\d+) \[[^\]]*\]/g)].length;
        expect(dump?.complete).toBe(false);
        expect(dump?.verdict).toBe(
          seen === 0 ? 'truncated (before the first goroutine)' : `truncated (at goroutine ${ids[seen - 1]})`,
        );
      }),
    );
  });

  it('sees most holes in the middle, where another reader took a part of the bytes', () => {
    let seen = 0;
    const hole = fc.record({
      at: fc.integer({ min: BEGIN_END + 200, max: RAW.length - 8000 }),
      size: fc.integer({ min: 300, max: 6000 }),
    });
    const holes = fc.sample(hole, { numRuns: 300, seed: 1 });
    for (const { at, size } of holes) {
      const [dump] = findDumps(RAW.slice(0, at) + RAW.slice(at + size));
      if (dump?.complete === false) seen += 1;
    }
    expect(seen / holes.length).toBeGreaterThan(0.85);
  });

  it('gives back any dump of both versions, cut anywhere, whatever lies between the pieces', () => {
    const cuts = fc.uniqueArray(fc.nat(), { maxLength: 12 });
    fc.assert(
      fc.property(
        fc.constantFrom(...DUMPS),
        cuts,
        fc.constantFrom(...ENVELOPES),
        ({ text, line, pid }, places, envelope) => {
          const first = line.indexOf('=== BEGIN') + 100;
          const at = places.map(place => first + (place % (line.length - first - 1))).sort((a, b) => a - b);
          const pieces = [0, ...new Set(at), line.length].flatMap((end, index, ends) =>
            index === 0 ? [] : [line.slice(ends[index - 1], end)],
          );
          // Without an envelope a piece that begins like a log line of its own cannot be told from one.
          fc.pre(!pieces.slice(1).some(piece => /^(?:-- |\{"|time="|level=)/.test(piece)));
          expect(findDumps(envelope(pieces))).toMatchObject([{ text, complete: true, pid, unknown: [] }]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('joins what k0s has quoted once more and cut into chunks of any size, between lines of its other components', () => {
    fc.assert(
      fc.property(fc.integer({ min: 256, max: 20_000 }), fc.boolean(), (size, inJournal) => {
        const lines = ['time="2026-11-29T11:49:08Z" level=info msg="before"', RAW, 'time="x" level=info msg="behind"'];
        const log = lines.flatMap(line => [...throughK0s(line, size), KUBELET]);
        const text = log.map(line => (inJournal ? `Nov 29 11:49:08 node-1 k0s[9]: ${line}` : line)).join('\n');
        const dumps = findDumps(text);
        expect(dumps).toHaveLength(1);
        expect(dumps[0]).toMatchObject({ text: TEXT, complete: true, pid: 29894 });
        expect(dumps[0]?.time).toBeCloseTo(whole.time, 3);
      }),
      { numRuns: 40 },
    );
  });

  it('says where a dump ends of which k0s or what is behind it has lost the rest', () => {
    const pieces = throughK0s(RAW, 4096);
    expect(pieces.length).toBeGreaterThan(3);
    const lost = [...pieces.slice(0, 2), ...throughK0s('time="x" level=info msg="next"', 4096)].join('\n');
    expect(findDumps(lost)).toMatchObject([{ complete: false, verdict: expect.stringMatching(/^truncated \(at/) }]);
  });

  it('never throws, and stays linear on lines of 1 MB', () => {
    const begin = '=== BEGIN goroutine stack dump ===';
    for (const seed of [
      '\\',
      '"',
      '\\n',
      'goroutine 1 [',
      'goroutine 1 [a]: ',
      'f.go:1 ',
      '(',
      ' ',
      '\t',
      '[',
      '»',
      `${begin}\\n`,
    ]) {
      const line = seed.repeat(Math.ceil(1_000_000 / seed.length));
      expect(findDumps(`time="x" msg="${begin}\\n${line}`)[0]?.complete).toBe(false);
      expect(findDumps(`${begin}\n${line}\n${line}`)[0]?.complete).toBe(false);
    }
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => void findDumps(`${a}${begin}${b}`)));
  });

  it('has nothing to say about a log without a dump', () => {
    expect(findDumps('')).toEqual([]);
    expect(findDumps('=== END goroutine stack dump ===')).toEqual([]);
  });
});

describe('a file without markers', () => {
  const file = TEXT.split('\n').slice(1, -1).join('\n');
  const verdict = (text: string) => completenessOf(parseGoroutines(text).goroutines, 'unmarked').verdict;

  it('is whole where its last goroutine ends', () => {
    expect(verdict(file)).toBe('complete');
    expect(verdict(file.slice(0, file.lastIndexOf('created by')))).toMatch(/goroutine \d+\)$/);
    expect(verdict('')).toBe('truncated (before the first goroutine)');
  });
});
