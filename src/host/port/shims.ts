import type { ConnectAnswer, StateAnswer, TaskApi } from '../../formats/ttrpc/task.ts';
import type { FileResult } from './files.ts';

/** What is asked of one shim over its ttrpc socket: Connect, and once that is answered State of some containers. */
export interface ShimQuestion {
  /** As `<bundle>/address` or bootstrap.json has it: `unix://<path>`; without the scheme it is an abstract name. */
  readonly socket: string;
  /** In front of a path: '', or `/proc/<pid>/root` for another mount namespace. */
  readonly prefix: string;
  /** Tried in this order, the next one when the shim says that it does not serve the one before. */
  readonly apis: readonly TaskApi[];
  /** containerd's: k8s.io, moby. */
  readonly namespace: string;
  /** What Connect is asked about: the shim's own id. */
  readonly id: string;
  /** Of these, State is asked, once, all at the same time. */
  readonly containers: readonly string[];
}

/** One call to a shim, and what became of it. */
export interface ShimCall {
  /** ShimInfo is what v1 shims have for Connect. */
  readonly call: 'Connect' | 'ShimInfo' | 'State';
  /** Of State; null for the others. */
  readonly container: string | null;
  /** `containerd.task.v2.Task` */
  readonly service: string;
  /**
   * - `ok`: answered
   * - `error`: answered with a status, with garbage, or by hanging up
   * - `gone`: nobody listens at that socket
   * - `not-asked`: Connect had no answer, and State would only have left a goroutine behind
   */
  readonly outcome: 'ok' | 'error' | 'timeout' | 'gone' | 'denied' | 'not-asked';
  readonly offsetMs: number;
  readonly latencyMs: number;
  readonly answer: ConnectAnswer | StateAnswer | null;
  /** google.rpc.Status, where that was the answer. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly detail?: string;
}

/** Word that runs leave for each other in /run/stallcap, so that a shim is not signalled twice in a row. */
export interface SignalMark {
  /** The process, and its start time. */
  readonly pid: number;
  readonly startTicks: string;
  /** pid of the run that leaves it. */
  readonly by: number;
  /** `claim`: it is about to signal, unless another did a moment ago · `again`: it will in any case · `sent` · `free`: it did not after all. */
  readonly what: 'claim' | 'again' | 'sent' | 'free';
  /** A claim gives way to a mark of another run that is younger than this. */
  readonly windowMs: number;
}

/** `taken`: another run's, `detail` says whose and when. `unknown`: no word could be left, `detail` says why. */
export type SignalMarked =
  | { readonly outcome: 'ours' }
  | { readonly outcome: 'taken' | 'unknown'; readonly detail: string };

/** A reader on a shim's log fifo (/proc/<shim>/fd/<fd>), opened before the signal is sent. */
export interface Drain {
  /** Resolves when the fifo is open, or could not be opened. `readerPid`: the process that waits in read(2), for its priority. */
  readonly opened: Promise<Pick<FileResult, 'outcome' | 'detail'> & { readonly readerPid?: number }>;
  /**
   * Reads until `marker` has come and the pipe is empty, or the deadline passes. With `notBefore` (ISO 8601) the marker
   * counts only in a line whose `time="…"` is not before it: older dumps may be queued in the pipe ahead of ours. A
   * `time` without a fraction (v1 shims) is compared by whole seconds.
   */
  finish(until: {
    readonly marker: string;
    readonly deadlineMs: number;
    readonly notBefore?: string;
  }): Promise<FileResult>;
}
