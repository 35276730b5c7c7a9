import { setTimeout as sleep } from 'node:timers/promises';
import type { Usage } from '../port.ts';

/**
 * CPU and memory of processes over `pauseMs`, by pidusage. In a probe only: at its first call it forks getconf twice (and
 * a shell for each) to learn the clock tick and the page size, and at import it looks for a file in /etc.
 *
 * @returns those of the processes that lived through both readings
 */
export async function readUsage(pids: readonly number[], pauseMs: number): Promise<readonly Usage[]> {
  // stderr of a probe goes nowhere; pidusage would complain there about a node without getconf.
  process.env['PIDUSAGE_SILENT'] = '1';
  const { default: pidusage } = await import('pidusage');
  await pidusage([...pids]);
  await sleep(pauseMs);
  const read = await pidusage([...pids]);
  pidusage.clear();
  return pids.flatMap(pid => {
    const one = read[pid];
    if (one === undefined || one === null) return [];
    return [{ pid, cpuPercent: one.cpu, rssBytes: one.memory, cpuMs: one.ctime, ageMs: one.elapsed }];
  });
}
