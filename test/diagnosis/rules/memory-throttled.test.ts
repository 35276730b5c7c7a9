import { describe, expect, it } from 'vitest';
import type { ContainerCgroup, Facts, PressureFacts, PressureShare } from '../../../src/diagnosis/facts.ts';
import { diskCapped } from '../../../src/diagnosis/rules/disk-capped.ts';
import { diskDead } from '../../../src/diagnosis/rules/disk-dead.ts';
import { memoryThrottled } from '../../../src/diagnosis/rules/memory-throttled.ts';
import { CONTAINER_ID, containerOf, deviceOf, devicesOf, factsOf, podThreads, threadOf } from '../facts-of.ts';
import { judge } from '../judge.ts';
import { OVER_MEMORY_HIGH } from '../stacks.ts';

const cite = { entry: 'node/samples.jsonl', line: 3, text: 'memory.pressure: full avg10=88.00 avg60=62.00' };
const share = (full: number): PressureShare => ({
  ...{ some: full, full, avg10Some: full * 100, avg10Full: full * 100, avg60Full: full * 70, series: [], cite },
});
const pressure = (memory: number, io: number): PressureFacts => ({
  node: { io: share(0), memory: share(0), cpu: null },
  pod: new Map([[CONTAINER_ID, { memory: share(memory), io: share(io), cpu: null }]]),
});
const container = (partial: Partial<NonNullable<ContainerCgroup['memory']>> = {}) => {
  const memory = {
    currentBytes: 401 * 2 ** 20,
    maxBytes: 512 * 2 ** 20,
    highBytes: 400 * 2 ** 20,
    highEventsGrowth: 40,
    oomKills: 0,
    cite,
  };
  const cgroup: ContainerCgroup = {
    ...{ path: '/kubepods/pod0d6f/c1', version: 2, freezer: null, pids: null, cpu: null, ioLimits: [] },
    memory: { ...memory, ...partial },
  };
  return containerOf({ cgroup });
};
/** As it looks: in D for up to 2 s at a time, and on the run in between. */
const throttled = threadOf({
  ...{ pid: 2700, tid: 2700, comm: 'app', role: 'init', container: CONTAINER_ID, stack: OVER_MEMORY_HIGH },
  ...{ moved: 'moved', blockedForMs: 700 },
});
const withMemory = (own: ReturnType<typeof container>, rest: Partial<Facts> = {}) =>
  factsOf({
    containers: [own],
    pressure: pressure(0.88, 0),
    threads: podThreads(throttled),
    devices: devicesOf(deviceOf()),
    ...rest,
  });

describe('memory-throttled', () => {
  it('is proved by memory.high and pressure on memory, and not on io', () => {
    expect(judge(memoryThrottled, withMemory(container()))).toMatchObject([
      {
        verdict: 'proved',
        ageMs: 36_960,
        ageFrom: expect.stringContaining('avg60=61.60'),
        says: expect.stringContaining('by its own memory limit, not by a disk'),
      },
    ]);
  });

  it('is no stall of a disk', () => {
    expect(judge(diskCapped, withMemory(container()))).toEqual([]);
    expect(judge(diskDead, withMemory(container()))).toEqual([]);
  });

  it('is likely where tasks wait for io as much, and possible where nobody says since when', () => {
    expect(judge(memoryThrottled, withMemory(container(), { pressure: pressure(0.5, 0.9) }))).toMatchObject([
      { verdict: 'likely' },
    ]);
    expect(judge(memoryThrottled, withMemory(container(), { pressure: null }))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });

  it('goes by events above memory.high where it is just below at the moment, and by a thread that is throttled', () => {
    expect(judge(memoryThrottled, withMemory(container({ currentBytes: 2 ** 20 })))).toMatchObject([
      { verdict: 'proved' },
    ]);
    const above = container({ highEventsGrowth: null });
    expect(judge(memoryThrottled, withMemory(above))).toMatchObject([{ verdict: 'likely' }]);
    const [found] = judge(memoryThrottled, withMemory(above, { pressure: pressure(0.01, 0) }));
    expect(found?.because.map(({ text }) => text)).toContainEqual(
      expect.stringContaining('mem_cgroup_handle_over_high'),
    );
    expect(found?.links).toMatchObject([{ about: ['thread:2700'], waitsFor: ['cgroup:/kubepods/pod0d6f/c1'] }]);
  });

  it('does not take the thread of another container for one of this', () => {
    const threads = podThreads({ ...throttled, container: 'ee'.repeat(32), pid: 9, tid: 9 });
    expect(judge(memoryThrottled, withMemory(container(), { pressure: pressure(0, 0), threads }))).toEqual([]);
  });

  it('is silent below memory.high, without a limit, and without pressure or a thread that is throttled', () => {
    expect(judge(memoryThrottled, withMemory(container({ currentBytes: 2 ** 20, highEventsGrowth: 0 })))).toEqual([]);
    expect(judge(memoryThrottled, withMemory(container({ highBytes: null })))).toEqual([]);
    expect(
      judge(memoryThrottled, withMemory(container(), { pressure: pressure(0.01, 0), threads: podThreads() })),
    ).toEqual([]);
  });
});
