import type { GoFrame } from '../../formats/goroutines/goroutine.ts';
import type { Citation } from '../citation.ts';

/** A goroutine of a shim or daemon. `isInside` and `isFunction` of formats/goroutines ask its frames. */
export interface GoroutineFact {
  readonly id: number;
  /** `syscall`, `semacquire`, `sync.Mutex.Lock`, `select`, … A goroutine that is `runnable` may stand in a system call. */
  readonly state: string;
  /** Null below one minute. Minutes that equal the process's age are steady state. */
  readonly minutes: number | null;
  /** Innermost first. */
  readonly frames: readonly GoFrame[];
  /** Line of its heading in the entry. */
  readonly line: number;
  readonly cite: Citation;
  /** The request that it serves: `Delete`, `State`, `Create`, `Kill`, `Start`, `Exec`, `Connect`, …; null for none. */
  readonly rpc: string | null;
  /**
   * The thread that it stands on: its `syscall.Syscall` frame and the thread's syscall file have the same number and first
   * argument, or one goroutine and one thread of the process are in that call. Null where neither holds.
   */
  readonly tid: number | null;
}

/** A mutex of a shim that somebody waits for, or that is held by somebody who is stuck. */
export interface GoLock {
  /**
   * `Init.mu`: one container's process, held through Delete, Start, Kill. `Init.lock`: the same where State may pass a Delete. `service.mu`: the map of containers, held through
   * Create up to 2.3.1: then every request of the pod waits. `logger`: logrus', held while the log fifo is full.
   */
  readonly name:
    | 'Init.mu'
    | 'Init.lock'
    | 'execProcess.mu'
    | 'service.mu'
    | 'Container.mu'
    | 'lifecycleMu'
    | 'cgroup'
    | 'logger'
    | 'other';
  /** Of the mutex, `0xc0000bcc80`; null where the dump does not give it. */
  readonly address: string | null;
  /** Who is inside of what holds it; null where that cannot be told. */
  readonly holder: GoroutineFact | null;
  /** What the holder does: `Delete`, `Create`, `Start`, `Kill`, `Exec`; null without a holder. */
  readonly operation: string | null;
  /** By the address of receiver and mutex (`address`), or because there is one holder and one lock of the name (`alone`). */
  readonly joinedBy: 'address' | 'alone' | null;
  readonly waiters: readonly GoroutineFact[];
}

export interface GoroutineGroupFact {
  /** The one that stands for them. */
  readonly example: GoroutineFact;
  readonly count: number;
  readonly oldestMinutes: number | null;
  readonly youngestMinutes: number | null;
}

/** A dump of a shim (`shim/goroutines.txt`). */
export interface ShimGoroutines {
  readonly shimPid: number;
  readonly entry: string;
  /** A hole or a cut: what is not in it may still be there. */
  readonly complete: boolean;
  /** `complete`, `truncated (at goroutine 96)`. */
  readonly verdict: string;
  readonly all: readonly GoroutineFact[];
  readonly groups: readonly GoroutineGroupFact[];
  readonly locks: readonly GoLock[];
  /** Nobody in a request, in a lock, in Delete or Create, in the exit path: only what a shim always has. */
  readonly idle: boolean;
}

/** A dump of containerd or dockerd (`daemons/…`, issue of the whole dump). */
export interface DaemonGoroutines {
  readonly pid: number;
  readonly daemon: 'containerd' | 'dockerd';
  readonly entry: string;
  /** 1 for the first dump, 2 for the one after the gap. */
  readonly sample: number;
  /** When it was read, ms since 1970; null without a manifest. */
  readonly at: number | null;
  readonly complete: boolean;
  readonly all: readonly GoroutineFact[];
  readonly groups: readonly GoroutineGroupFact[];
}
