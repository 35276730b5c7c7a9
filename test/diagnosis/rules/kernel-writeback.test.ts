import { describe, expect, it } from 'vitest';
import type { DirtyFacts, Facts, Writer } from '../../../src/diagnosis/facts.ts';
import { kernelWriteback } from '../../../src/diagnosis/rules/kernel-writeback.ts';
import { deviceOf, devicesOf, factsOf, ratesOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const MIB = 2 ** 20;
const cite = { entry: 'node/samples.jsonl', line: 3, text: 'Dirty: 300000 kB, Writeback: 19000 kB' };
const dirty = (partial: Partial<DirtyFacts> = {}): DirtyFacts => ({
  of: 'node',
  samples: [{ offsetMs: 0, dirtyBytes: 293 * MIB, writebackBytes: 19 * MIB, cite }],
  ...{ bytes: 312 * MIB, device: 'nvme1n1', writtenBytesPerSecond: 4 * MIB, drainMs: 78_000 },
  ...partial,
});
const busy = deviceOf({ rates: ratesOf({ utilPercent: 100, completed: 800 }), alwaysInFlight: true });
const writer = (name: string, dirtyBytes: number, share: number | null = null): Writer => ({
  ...{ cgroup: `/kubepods/${name}`, name, podUid: name, container: null, ofTarget: false, share },
  ...{ writtenBytesPerSecond: 0, readBytesPerSecond: 0, dirtyBytes, writebackBytes: 0, cite },
});
const withDirty = (own: DirtyFacts, rest: Partial<Facts> = {}) =>
  factsOf({ dirty: own, devices: devicesOf(busy), ...rest });

describe('kernel-writeback', () => {
  it('says how much waits and how long it takes, in a real capture', () => {
    expect(judge(kernelWriteback, factsOfBundle('overlay-umount-sync'))).toMatchObject([
      {
        kind: 'context',
        verdict: 'likely',
        says: expect.stringMatching(
          /^1\d\d\.\d MiB wait to be written to disk, all or part of it to loop0; at 1\.\d MiB\/s that takes at most 1 min/,
        ),
      },
    ]);
  });

  it('says whose it is, most first', () => {
    const writers = {
      version: 2 as const,
      all: [writer('shop/web-0', 4 * MIB), writer('shop/batch-7', 290 * MIB, 0.93)],
    };
    const [found] = judge(kernelWriteback, withDirty(dirty(), { writers }));
    expect(found?.says).toContain('Most of them: shop/batch-7 290.0 MiB, shop/web-0 4.0 MiB.');
    expect(found?.links).toMatchObject([
      { about: ['device:nvme1n1'], waitsFor: ['pod:shop/batch-7'] },
      { about: ['pod:shop/batch-7'] },
    ]);
  });

  it('gives no percentages of cgroup v1, whose counters leave buffered writes out', () => {
    const writers = { version: 1 as const, all: [writer('shop/batch-7', 0), writer('shop/web-0', 0)] };
    const [found] = judge(kernelWriteback, withDirty(dirty(), { writers }));
    expect(found?.says).not.toMatch(/%|Most of them/);
    expect(found?.links).toHaveLength(1);
  });

  it('says so where nothing is written at all', () => {
    const dead = deviceOf({ rates: ratesOf({ utilPercent: 100, completed: 0 }), alwaysInFlight: true });
    const facts = withDirty(dirty({ drainMs: null, writtenBytesPerSecond: 0 }), { devices: devicesOf(dead) });
    expect(judge(kernelWriteback, facts)[0]?.says).toContain('and none of it is written');
  });

  it('is silent about little, about what a moment writes, and about an idle disk, which tells no rate', () => {
    expect(judge(kernelWriteback, withDirty(dirty({ bytes: 20 * MIB })))).toEqual([]);
    expect(judge(kernelWriteback, withDirty(dirty({ drainMs: 900 })))).toEqual([]);
    expect(judge(kernelWriteback, withDirty(dirty(), { devices: devicesOf(deviceOf()) }))).toEqual([]);
    expect(judge(kernelWriteback, factsOfBundle('healthy'))).toEqual([]);
  });
});
