import { parseStat } from '../../formats/proc/stat.ts';
import { parseSyscall, type SyscallFile } from '../../formats/proc/syscall.ts';
import { wchanSymbol } from '../../formats/proc/wchan.ts';
import type { ProcessLook } from '../../host/port.ts';

/** One thread, as far as guards and ladder judge it. */
export interface ThreadState {
  readonly tid: number;
  /** Letter of proc_pid_stat(5). */
  readonly state: string;
  readonly wchan: string | null;
  readonly call: SyscallFile;
  /** Frozen by a cgroup: v1 puts it into the refrigerator (state D), v2 into a trap (state S). */
  readonly frozen: boolean;
}

const FROZEN = /\b(__refrigerator|do_freezer_trap|cgroup_enter_frozen)\b/;

/** Threads that were alive when they were read. */
export function threadStates(look: ProcessLook): readonly ThreadState[] {
  return look.threads.flatMap(thread => {
    const stat = thread.stat === null ? null : parseStat(thread.stat);
    if (stat === null || stat.state === 'Z' || stat.state === 'X') return [];
    const call: SyscallFile = parseSyscall(thread.syscall ?? '');
    const frozen = FROZEN.test(`${thread.wchan ?? ''} ${thread.stack ?? ''}`);
    return [{ tid: thread.tid, state: stat.state, wchan: wchanSymbol(thread.wchan), call, frozen }];
  });
}

/** Stopped by a signal (T), or by a tracer that does not let it go on (t). */
function isStopped(thread: ThreadState): boolean {
  return thread.state === 'T' || thread.state === 't';
}

/** Null for a process that can take a signal; else in words why one would stay pending. */
export function whySignalWouldPend(look: ProcessLook): string | null {
  const threads = threadStates(look);
  const frozen = threads.filter(thread => thread.frozen);
  if (frozen.length > 0) return `${frozen.length} of ${threads.length} threads are frozen by a cgroup`;
  const leader = look.stat === null ? null : parseStat(look.stat);
  const stopped = threads.filter(isStopped);
  if (leader?.state === 'T') return 'it is stopped (T)';
  if (threads.length > 0 && stopped.length === threads.length) return 'all its threads are stopped (T or t)';
  return null;
}
