import { describe, expect, it } from 'vitest';
import { eventsOfJson } from '../../../src/formats/kubernetes/json-events.ts';
import { eventsOfYaml } from '../../../src/formats/kubernetes/yaml-events.ts';

const MANY = 20_000;
const LIST = {
  items: Array.from({ length: MANY }, (_, index) => ({
    ...{ type: 'Warning', reason: 'Failed', lastTimestamp: '2026-11-29T18:54:00Z', message: `no. ${index}` },
  })),
};

/** Seconds of this thread's own time: those that grew with the square of the events took a minute. */
function cpuSeconds(work: () => void): number {
  const began = process.threadCpuUsage().user;
  work();
  return (process.threadCpuUsage().user - began) / 1e6;
}

describe('twenty thousand events in one file', () => {
  it('are read from JSON, each with its line', () => {
    const seconds = cpuSeconds(() => {
      const { events } = eventsOfJson(JSON.stringify(LIST, null, 2));
      expect(events.map(({ line }) => line)).toEqual(LIST.items.map((_, index) => 7 + 6 * index));
    });
    expect(seconds).toBeLessThan(10);
  });

  it('are read from JSON that is escaped otherwise, without their lines', () => {
    const seconds = cpuSeconds(() => {
      const { events } = eventsOfJson(JSON.stringify(LIST).replaceAll('"no.', String.raw`"\u006eo.`));
      expect(events).toHaveLength(MANY);
    });
    expect(seconds).toBeLessThan(10);
  });

  it('may have forty thousand names in one of them', () => {
    const names = Array.from({ length: 2 * MANY }, (_, index) => `  k${index}: 1\n`).join('');
    const seconds = cpuSeconds(() => {
      expect(eventsOfYaml(`items:\n- type: Warning\n  reason: Failed\n${names}`).events).toHaveLength(1);
    });
    expect(seconds).toBeLessThan(10);
  });
});
