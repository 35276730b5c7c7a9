import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration, parseSize } from '../../src/formats/duration.ts';
import { escapeColumn, escapeLine, printable, unescapeLine } from '../../src/formats/escape.ts';
import { unquoteGo, unquoteGoLoosely } from '../../src/formats/go-quote.ts';
import { parseGoroutines } from '../../src/formats/goroutines/parse-goroutines.ts';
import { parseJournalJson } from '../../src/formats/logs/journal-json.ts';
import { parseCgroups } from '../../src/formats/proc/cgroup.ts';
import { parseCgroupIo } from '../../src/formats/proc/cgroup-io.ts';
import { cpuClock } from '../../src/formats/proc/cpu-clocks.ts';
import { parseDiskstats } from '../../src/formats/proc/diskstats.ts';
import { parseKmsg } from '../../src/formats/proc/kmsg.ts';
import { parseMeminfo } from '../../src/formats/proc/meminfo.ts';
import { overlayDirs, parseMountinfo } from '../../src/formats/proc/mountinfo.ts';
import { parseListening } from '../../src/formats/proc/net-unix.ts';
import { parsePressure } from '../../src/formats/proc/pressure.ts';
import { execStartMs } from '../../src/formats/proc/sched.ts';
import { parseStack } from '../../src/formats/proc/stack.ts';
import { parseStat } from '../../src/formats/proc/stat.ts';
import { parseStatus } from '../../src/formats/proc/status.ts';
import { parseSyscall } from '../../src/formats/proc/syscall.ts';
import { isIdle } from '../../src/formats/proc/wchan.ts';
import { parsePodLogDirectory } from '../../src/formats/runtime/pod-log-directory.ts';
import { parseToml } from '../../src/formats/runtime/toml.ts';
import { fixture } from './fixture.ts';

/** Everything that takes text from outside, with a real text of its kind to damage. */
const READERS: readonly (readonly [name: string, read: (text: string) => unknown, real: string])[] = [
  ['printable', printable, 'a\x1b[2J'],
  ['escapeLine', escapeLine, 'a\\'],
  ['escapeColumn', escapeColumn, 'a ='],
  ['unescapeLine', unescapeLine, '\\x41\\u{1f600}'],
  ['unquoteGo', unquoteGo, 'a\\n'],
  ['unquoteGoLoosely', unquoteGoLoosely, '\\x4'],
  ['parseDuration', parseDuration, '1m30s'],
  ['parseSize', parseSize, '128MiB'],
  ['parseGoroutines', parseGoroutines, fixture('goroutines/shim-1.6.20-healthy.txt')],
  ['parseJournalJson', parseJournalJson, fixture('journal/split-dump.json')],
  ['parseCgroupIo', parseCgroupIo, '254:0 rbytes=4096 wbytes=8192\n254:0 Read 1\n'],
  ['parseCgroups', parseCgroups, fixture('proc/shim-1.6.20/cgroup')],
  ['parseDiskstats', parseDiskstats, fixture('proc/node/diskstats')],
  ['parseKmsg', parseKmsg, fixture('kernel-log/hung-task-6.18.kmsg')],
  ['parseMeminfo', parseMeminfo, fixture('proc/node/meminfo')],
  ['parseMountinfo', text => parseMountinfo(text).map(overlayDirs), fixture('proc/shim-1.6.20/mountinfo-pod')],
  ['parsePressure', parsePressure, fixture('proc/node/pressure-io')],
  ['execStartMs', execStartMs, fixture('proc/frozen-touch/sched')],
  ['cpuClock', text => cpuClock(text, fixture('proc/frozen-touch/sched'), text), fixture('proc/frozen-touch/stat')],
  ['parseStack', parseStack, fixture('proc/frozen-touch/stack')],
  ['parseStat', parseStat, fixture('proc/shim-1.6.20/stat')],
  ['parseStatus', parseStatus, fixture('proc/shim-1.6.20/status')],
  ['parseSyscall', parseSyscall, fixture('proc/frozen-touch/syscall')],
  ['isIdle', isIdle, 'futex_wait_queue'],
  ['parseListening', parseListening, 'ffff: 00000002 00000000 00010000 0001 01 26 /run/containerd/s/1\n'],
  ['parsePodLogDirectory', parsePodLogDirectory, '/var/log/pods/shop_web-0_0b6b8d5e'],
  ['parseToml', parseToml, 'version = 2\n[grpc]\n  address = "/run/a.sock"\n'],
];

describe.each(READERS)('%s', (_, read, real) => {
  it('never throws, whatever it is given', () => {
    const place = fc.nat({ max: real.length });
    fc.assert(
      fc.property(place, place, fc.string({ unit: 'binary' }), (from, to, junk) => {
        read(junk);
        read(real.slice(0, from) + junk + real.slice(to));
      }),
    );
  });

  it('stays linear on 1 MB without a line end, and of line ends', () => {
    for (const seed of ['(', '\\', ' ', ':', '0', 'a', '\n', '1 ', '\u202e', '/', '"', '#\n', 'a.', '[a]\n', 'a=""\n'])
      read(real + seed.repeat(1_000_000 / seed.length));
  }, 30_000);
});

describe('formatDuration', () => {
  it('takes any number', () => {
    const ages = fc.oneof(fc.double({ min: -1e15, max: 1e15 }), fc.constantFrom(Number.POSITIVE_INFINITY, -0));
    fc.assert(
      fc.property(ages, ms => {
        expect(formatDuration(ms)).toMatch(/^-?\d+(\.\d)? (ms|s|min|h|d)\b|^unknown$/);
      }),
    );
  });
});

describe('parseToml', () => {
  it('takes no name of ten thousand parts: each value below it would hold them all', () => {
    const began = performance.now();
    const { values, faultAt } = parseToml(`[${'a.'.repeat(10_000)}a]\n${'b = ""\n'.repeat(100_000)}`);
    expect([values.size, faultAt]).toEqual([0, 67]);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
