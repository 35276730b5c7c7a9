import { setTimeout as sleep } from 'node:timers/promises';
import { alive } from './proc.ts';

/** kill(2) that does not mind a process that has gone. @throws RangeError for pids that mean a group, or init */
export function signal(pid: number, name: NodeJS.Signals): void {
  if (!(pid > 1)) throw new RangeError(`no process to send ${name} to: ${pid}`);
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Ends all processes that `find` names, asking again until it names none: a process that was about to fork has children.
 * @returns the pids that did not end within `deadlineMs` (in D state)
 */
export async function endAll(find: () => number[], deadlineMs: number): Promise<number[]> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const left = find();
    if (left.length === 0 || performance.now() > end) return left;
    for (const pid of left) {
      signal(pid, 'SIGKILL');
      signal(pid, 'SIGCONT');
    }
    await sleep(20);
  }
}

/** Ends one process of the lab by pid. @throws Error when it is in D state and does not end */
export async function end(pid: number, deadlineMs = 10_000): Promise<void> {
  const left = await endAll(() => (alive(pid) ? [pid] : []), deadlineMs);
  if (left.length > 0) throw new Error(`process ${pid} did not end within ${deadlineMs} ms`);
}
