import { readdirSync, readlinkSync } from 'node:fs';
import { monotonicMs, timesSince } from './clock.ts';
import { errnoOf, outcomeOf } from './outcome.ts';
import { ownClock } from './own-clock.ts';
import type { ProcessLook, ThreadLook } from './port.ts';
import { readText } from './proc-file.ts';

/** Read of each thread, in this order: the state first, the stack that explains it last. */
const THREAD_FILES = ['stat', 'wchan', 'sched', 'syscall', 'stack'] as const;

export interface LookOptions {
  /** Leave a process with one thread alone: it may be inside execve, where all but comm and status can hang (see safe-read.ts). */
  readonly safe: boolean;
  /** Reading of the monotonic clock, ms, after which no further thread is begun. */
  readonly until?: number;
  /** Called after each thread with what was read of it. */
  readonly onThread?: (look: ThreadLook) => void;
}

/** Names of a directory of /proc that are numbers, in rising order: readdir of node sorts them as text. */
export function numbersIn(directory: string): readonly number[] {
  return readdirSync(directory)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b);
}

/** Threads of a process: its first thread, which it is named after, then by number. Numbers start anew at pid_max. */
export function threadsOf(pid: number): readonly number[] {
  const rank = (tid: number) => (tid === pid ? 0 : tid);
  return [...numbersIn(`/proc/${pid}/task`)].sort((a, b) => rank(a) - rank(b));
}

/** Field `Threads` of /proc/<pid>/status; 0 for a zombie whose threads are gone, and where the field is missing. */
export function threadsIn(status: string): number {
  return Number(/^Threads:\s*(\d+)$/m.exec(status)?.[1] ?? 0);
}

/** The raw text of one thread's files. */
export function lookAtThread(pid: number, tid: number): ThreadLook {
  const errors: Record<string, string> = {};
  const texts: Record<string, string | null> = {};
  for (const file of THREAD_FILES) {
    const { text, errno } = readText(`/proc/${pid}/task/${tid}/${file}`);
    texts[file] = text;
    if (errno !== null) errors[file] = errno;
  }
  const { stat = null, wchan = null, sched = null, syscall = null, stack = null } = texts;
  return { tid, stat, wchan, sched, syscall, stack, errors };
}

/**
 * All threads of a process at one moment. Outcomes: `gone` (no such process), `denied` (a right is missing for the
 * stacks), `truncated` (`until` passed), `error` (with `safe`: a process with one thread).
 */
export function lookAt(pid: number, options: LookOptions): ProcessLook {
  const began = monotonicMs();
  const clock = ownClock();
  const comm = readText(`/proc/${pid}/comm`);
  const status = readText(`/proc/${pid}/status`);
  const known = { pid, comm: comm.text?.replace(/\n$/, '') ?? null, status: status.text, clock };

  const refusal = status.text === null ? outcomeOf(status.errno, `/proc/${pid}/status`) : refuse(status.text, options);
  if (refusal !== null) return { ...known, stat: null, cwd: null, threads: [], ...timesSince(began), ...refusal };

  const stat = readText(`/proc/${pid}/stat`).text;
  const cwd = linkOf(`/proc/${pid}/cwd`);
  const { threads, outcome, detail } = lookAtThreads(pid, options);
  return { ...known, stat, cwd, threads, ...timesSince(began), outcome, ...(detail === undefined ? {} : { detail }) };
}

function refuse(status: string, { safe }: LookOptions) {
  return safe && threadsIn(status) < 2
    ? { outcome: 'error' as const, detail: 'one thread: it may be inside execve, where a read can hang' }
    : null;
}

function lookAtThreads(
  pid: number,
  { until, onThread }: LookOptions,
): Pick<ProcessLook, 'threads' | 'outcome' | 'detail'> {
  const threads: ThreadLook[] = [];
  let tids: readonly number[];
  try {
    tids = threadsOf(pid);
  } catch (error) {
    return { threads, ...outcomeOf(errnoOf(error), `/proc/${pid}/task`) };
  }
  for (const tid of tids) {
    // At least one: a first look that comes late is worth more than none.
    if (until !== undefined && threads.length > 0 && monotonicMs() > until) {
      return { threads, outcome: 'truncated', detail: `${tids.length - threads.length} threads left for lack of time` };
    }
    const look = lookAtThread(pid, tid);
    threads.push(look);
    onThread?.(look);
  }
  return { threads, ...outcomeOfThreads(threads) };
}

function outcomeOfThreads(threads: readonly ThreadLook[]): Pick<ProcessLook, 'outcome' | 'detail'> {
  const denied = threads.find(({ errors }) => errors['stack'] === 'EACCES' || errors['stack'] === 'EPERM');
  if (denied !== undefined) return outcomeOf(denied.errors['stack'] ?? '', '/proc/self/stack');
  return threads.every(({ stat }) => stat === null) ? { outcome: 'gone', detail: 'ESRCH' } : { outcome: 'ok' };
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
