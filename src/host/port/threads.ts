import type { CpuClock, CpuClocks } from '../../formats/proc/cpu-clocks.ts';
import type { Outcome } from './outcome.ts';

/** The raw text of one thread's files; null where a file could not be read (`errors` says why). */
export interface ThreadLook {
  readonly tid: number;
  readonly stat: string | null;
  readonly wchan: string | null;
  readonly sched: string | null;
  readonly syscall: string | null;
  readonly stack: string | null;
  /** file name -> errno, 'stack' -> 'EACCES' */
  readonly errors: Readonly<Record<string, string>>;
}

/** All threads of one process at one moment, read in the main process (safe for a shim with two threads or more) or by a probe. */
export interface ProcessLook {
  readonly pid: number;
  readonly comm: string | null;
  /** Text of /proc/<pid>/status. */
  readonly status: string | null;
  /** Text of /proc/<pid>/stat; field 22 is the start time that guards against a reused pid. */
  readonly stat: string | null;
  /** readlink of /proc/<pid>/cwd. */
  readonly cwd: string | null;
  readonly threads: readonly ThreadLook[];
  /** The clock of the sampler's CPU just before: what `se.exec_start` of threads on that CPU is compared to. */
  readonly clock: CpuClock | null;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly detail?: string;
}

/** What the entry saw before anything else was loaded. */
export interface FirstLook {
  /** Raw arguments that equal, or are a prefix (4 characters or more) of, an id in a shim's cwd: those shims; else all shims of the node. */
  readonly matchedBy: 'id' | 'all';
  readonly shims: readonly ProcessLook[];
  /** When the first kernel stack of a shim was in hand, ms since the start of the process; null without a shim. */
  readonly firstStackMs: number | null;
  /** How many shims were left for lack of time. */
  readonly detail?: string;
}

/** Every thread of the node, and the details of those that matter. */
export interface SweepRequest {
  /** Processes (the pod's tree) whose threads get syscall and stack in any state; of all others only threads in D. */
  readonly tree: readonly number[];
  /** Of the CPUs that the threads may have run on. Default: none. */
  readonly clocks?: CpuClocks;
}

export interface SweepResult {
  readonly outcome: Outcome;
  readonly detail?: string;
  /** Text, columns as `ps -eLo pid,tid,ppid,stat,wchan:32,etime,args`, with ps's header line. */
  readonly processes: Buffer;
  /** Text in the layout of formats/thread-dump.ts: every thread in D, and every thread of the tree. */
  readonly blocked: Buffer;
  readonly threadCount: number;
  readonly blockedCount: number;
  /** Processes of which a read hung, with the file it hung in. */
  readonly hung: readonly { readonly pid: number; readonly file: string }[];
  readonly offsetMs: number;
  readonly durationMs: number;
}
