import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { blockedForSeconds, processorOf } from '../../src/formats/proc/cpu-clocks.ts';
import { createHost } from '../../src/host/linux.ts';
import { until } from '../lab/wait.ts';

const CPUS = [...readFileSync('/proc/stat', 'utf8').matchAll(/^cpu(\d+) /gm)].map(([, cpu]) => Number(cpu));
/** Those that this process may run on, and that are not the only one. */
const allowed = CPUS.filter(cpu => spawnSync('taskset', ['-c', String(cpu), 'true']).status === 0).slice(0, 8);

const sleepers: ChildProcess[] = [];
afterAll(() => {
  for (const sleeper of sleepers) sleeper.kill('SIGKILL');
});

/** The kernel's own threads, by which the clocks are read, are for root alone. */
const isRoot = process.getuid?.() === 0;

describe.skipIf(!existsSync('/proc/self/sched') || allowed.length === 0 || !isRoot)('the age of a sleep', () => {
  it('is right on every CPU, though their clocks part', async () => {
    const host = createHost();
    try {
      const pids = allowed.map(cpu => {
        const sleeper = spawn('taskset', ['-c', String(cpu), 'sleep', '1000'], { stdio: 'ignore' });
        sleepers.push(sleeper);
        return sleeper.pid ?? -1;
      });
      const isAsleep = (pid: number) =>
        readFileSync(`/proc/${pid}/comm`, 'utf8') === 'sleep\n' &&
        / S /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      await until('all to sleep', 5000, () => pids.every(isAsleep));
      const since = performance.now();
      await sleep(2000);

      const looks = await host.lookRisky(pids, { deadlineMs: 5000 });
      const seconds = (performance.now() - since) / 1000;
      const clocks = await host.cpuClocks(allowed, { deadlineMs: 5000 });
      expect([...clocks.keys()].toSorted((a, b) => a - b)).toEqual(allowed);
      for (const [index, look] of looks.entries()) {
        const [thread] = look.threads;
        expect(processorOf(thread?.stat ?? '')).toBe(allowed[index]);
        const age = blockedForSeconds(thread ?? { stat: null, sched: null }, look.clock, clocks);
        // They fell asleep before all of them were seen to.
        expect(age).toBeGreaterThan(2 - 0.3);
        expect(age).toBeLessThan(seconds + 1.5);
      }
    } finally {
      await host.close();
    }
  });

  it('is read of a CPU once within moments, and never of one that is not there', async () => {
    const host = createHost();
    try {
      const first = await host.cpuClocks([...allowed, 9999], { deadlineMs: 5000 });
      expect([...first.keys()].toSorted((a, b) => a - b)).toEqual(allowed);
      expect(await host.cpuClocks(allowed, { deadlineMs: 5000 })).toEqual(first);
    } finally {
      await host.close();
    }
  });
});
