import { describe, expect, it } from 'vitest';
import { blockedForSeconds, type CpuClock, cpuClock, NO_CLOCKS } from '../../../src/formats/proc/cpu-clocks.ts';
import { execStartMs } from '../../../src/formats/proc/sched.ts';
import { fixture } from '../fixture.ts';

/** In D on CPU 1. */
const touch = { stat: fixture('proc/frozen-touch/stat'), sched: fixture('proc/frozen-touch/sched-later') };
const ownMs = execStartMs(fixture('proc/frozen-touch/own-sched')) ?? 0;

describe('how long a thread has not run', () => {
  it('is told by the clock of the sampler, when it is on the CPU of the thread', () => {
    const own: CpuClock = { cpu: 1, clockMs: ownMs, uptimeMs: 0 };
    expect(blockedForSeconds(touch, own, NO_CLOCKS)).toBeCloseTo(5.306, 3);
  });

  it("is not told by another CPU's clock, which may be hours apart", () => {
    const own: CpuClock = { cpu: 0, clockMs: ownMs + 7_200_000, uptimeMs: 9000 };
    expect(blockedForSeconds(touch, own, NO_CLOCKS)).toBeNull();
    // Its own clock was read 2 s after the thread, or 1 s before it.
    const clocks = (cpu: number, afterMs: number) =>
      new Map([[cpu, { cpu, clockMs: ownMs + afterMs, uptimeMs: 9000 + afterMs }]]);
    expect(blockedForSeconds(touch, own, clocks(1, 2000))).toBeCloseTo(5.306, 3);
    expect(blockedForSeconds(touch, own, clocks(1, -1000))).toBeCloseTo(5.306, 3);
    expect(blockedForSeconds(touch, own, clocks(2, 0))).toBeNull();
  });

  it('is never negative, and null where a file is missing', () => {
    const own: CpuClock = { cpu: 1, clockMs: 1, uptimeMs: 0 };
    expect(blockedForSeconds(touch, own, NO_CLOCKS)).toBe(0);
    expect(blockedForSeconds({ ...touch, sched: null }, own, NO_CLOCKS)).toBeNull();
    expect(blockedForSeconds({ ...touch, stat: null }, own, NO_CLOCKS)).toBeNull();
    expect(blockedForSeconds(touch, null, NO_CLOCKS)).toBeNull();
  });
});

describe("a CPU's clock", () => {
  it('is what a task that runs on it says of itself', () => {
    expect(cpuClock(touch.stat, fixture('proc/frozen-touch/own-sched'), '1234.56 99.00\n')).toEqual({
      cpu: 1,
      clockMs: ownMs,
      uptimeMs: 1_234_560,
    });
  });

  it('is not known where one of the files does not tell', () => {
    const { stat, sched } = touch;
    expect(cpuClock('', sched, '1.0 1.0')).toBeNull();
    expect(cpuClock(stat, '', '1.0 1.0')).toBeNull();
    expect(cpuClock(stat, sched, '')).toBeNull();
  });
});
