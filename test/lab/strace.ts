import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from './child.ts';
import type { LabFolder } from './folder.ts';
import { alive } from './proc.ts';
import { end, signal } from './processes.ts';
import { until } from './wait.ts';

/** A strace that holds up one system call of a process; ending it lets every held call go on. */
export interface Injection extends AsyncDisposable {
  readonly pid: number;
}

/**
 * Arguments of strace that delay each call of `syscall` by `delayMs` before the kernel sees it.
 * @param error then it is not made at all, and fails with this ('EPERM')
 */
export const delaying = (syscall: string, delayMs: number, error?: string): string[] => [
  '-f',
  '-qq',
  '-o/dev/null',
  `-etrace=${syscall}`,
  `-einject=${syscall}:${error === undefined ? '' : `error=${error}:`}delay_enter=${delayMs * 1000}`,
];

/** Attaches to all threads of a process, and returns when it holds them. Threads that are held show state t. */
export async function delaySyscall(
  folder: LabFolder,
  target: number,
  syscall: string,
  delayMs: number,
  error?: string,
): Promise<Injection> {
  const { pid } = await startChild(folder, 'strace', [...delaying(syscall, delayMs, error), '-p', String(target)]);
  await until(`strace of ${target} to attach`, 5000, () => {
    if (!alive(pid)) throw new Error(`strace could not attach to ${target}`);
    return tracers(target).every(tracer => tracer === pid);
  });
  return { pid, [Symbol.asyncDispose]: () => detach(pid) };
}

/** strace lets go of its tracees in order on SIGTERM; one that does not come back is killed, and the kernel lets go. */
async function detach(pid: number): Promise<void> {
  signal(pid, 'SIGTERM');
  for (let round = 0; round < 100 && alive(pid); round++) await sleep(20);
  await end(pid);
}

/** A string that strace has printed, of which it writes every byte beyond ASCII as \303. */
export function unescaped(printed: string): string {
  const bytes = printed.replace(/\\([0-7]{1,3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** Who traces each thread of a process; 0 is nobody. */
function tracers(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map(tid => {
    const status = readFileSync(`/proc/${pid}/task/${tid}/status`, 'utf8');
    return Number(/^TracerPid:\s*(\d+)/m.exec(status)?.[1]);
  });
}
