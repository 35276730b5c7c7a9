import type { Citation } from '../citation.ts';

/** Whose thread it is. */
export type ThreadRole =
  | 'shim'
  /** runc (or crun, runsc, youki): create, start, delete, kill, exec. */
  | 'runc'
  /** `runc:[2:INIT]`: inside of the container, before it becomes the application. */
  | 'runc init'
  /** The first process of a container. */
  | 'init'
  /** Other processes below the shim. */
  | 'application'
  /** Not of this pod. */
  | 'other';

export interface Frame {
  /** As the source spells it; null for a line that names none. */
  readonly symbol: string | null;
  readonly module: string | null;
  readonly text: string;
  /** Line in the entry of the thread's last look. */
  readonly line: number;
}

/** The system call that a thread is in. */
export interface Call {
  /** `umount2`; null where the number has no name on this architecture. Rules go by name. */
  readonly name: string | null;
  readonly number: number;
  /** Six, as the registers hold them: `0xffffffffffffff9c`. */
  readonly args: readonly string[];
}

/** One thread over all looks in which it was. Values without a remark are those of its last look. */
export interface Thread {
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  readonly role: ThreadRole;
  /** Container that it belongs to; null for the shim, runc, and what is not of this pod. */
  readonly container: string | null;
  /** Letter of /proc/<tid>/stat; '?' where it could not be read. */
  readonly state: string;
  /** Null where the kernel does not say (`0`, `-`, no right): rules then go by `stack`. */
  readonly wchan: string | null;
  /** Null outside of a call, and where it could not be read. */
  readonly call: Call | null;
  /** Blocked, but in no call: a page fault (syscall file `-1`). */
  readonly inPageFault: boolean;
  /** Innermost first; empty for a thread that ran; null where it could not be read. */
  readonly stack: readonly Frame[] | null;
  /** By the scheduler's clock: how long it had not run at its last look. Null on kernels without it. Idle threads have it too. */
  readonly blockedForMs: number | null;
  /**
   * - `never`: the same call, arguments and stack in every look from the first one in which it waited to the last, two at least,
   *   and it has not run in between as far as the kernel says
   * - `moved`: something of that differs
   * - `once`: there was one look at it: nothing is known about movement but `blockedForMs`
   */
  readonly moved: 'never' | 'moved' | 'once';
  /** What was the same, for people: `system call and arguments`, `kernel stack`, `no CPU time and no context switch`. */
  readonly unchanged: readonly string[];
  /** Looks in which it stood as in the last one, and looks at it in all. */
  readonly seen: number;
  readonly looks: number;
  /** From the first look in which it stood as in the last one to the last. */
  readonly seenForMs: number;
  /**
   * Looks up to the last in which it was in the very same call, by arguments and stack pointer, whether or not it ran in between:
   * for calls that are made once (umount2, mount), where a wait may be interrupted and go on.
   */
  readonly inSameCall: { readonly looks: number; readonly forMs: number };
  /** It waits where threads wait for work (futex, epoll): no stall. */
  readonly idle: boolean;
  /** Its heading, in the first and the last look in which it stood the same. */
  readonly cites: readonly [Citation, ...Citation[]];
  /** Entry of the last look: what `Frame.line` counts in. */
  readonly entry: string;
}

export interface PodThreads {
  /** The pod's own tree: shims, runc, inits, what is below them. */
  readonly all: readonly Thread[];
  /** How many looks were taken at the shim. */
  readonly looks: number;
  /** `none`: without the right (CAP_SYS_ADMIN, lockdown), or a kernel built without them. */
  readonly stacks: 'all' | 'some' | 'none';
  readonly wchans: 'all' | 'some' | 'none';
}

/** Every thread of the node in D at the sweep, the pod's own among them. One look, so `moved` is 'once' for the others. */
export interface NodeThreads {
  readonly blocked: readonly Thread[];
  readonly stacks: 'all' | 'some' | 'none';
}

/** A row of node/processes.txt that stands for a process (its first thread), with those in D counted. */
export interface Process {
  readonly pid: number;
  readonly ppid: number;
  /** STAT of ps: `Ssl`, `D`, `Z`. */
  readonly stat: string;
  readonly wchan: string | null;
  /** ELAPSED; age of the process at the sweep. Null where ps shows none. */
  readonly ageMs: number | null;
  /** Command line; `[comm]` for kernel threads, zombies and whose command line could not be read. */
  readonly args: string;
  readonly threads: number;
  readonly threadsInD: number;
  readonly cite: Citation;
}

export interface ProcessTable {
  readonly byPid: ReadonlyMap<number, Process>;
  readonly children: ReadonlyMap<number, readonly Process[]>;
  /** Threads of the node. */
  readonly threads: number;
  readonly threadsInD: number;
  /** Processes of which a read hung, from the manifest's detail: `/proc/812/cmdline`. */
  readonly hung: readonly { readonly pid: number; readonly file: string; readonly cite: Citation }[];
}
