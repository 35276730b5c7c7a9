/** How long a request may take. */
export interface Deadline {
  /** All of the request, ms from now. */
  readonly deadlineMs: number;
  /**
   * A single file that brings nothing for this long is given up, and the rest goes on in a fresh probe. Default 1000; a
   * host that was told to be patient waits longer.
   */
  readonly itemMs?: number;
  readonly signal?: AbortSignal;
}

/** A probe child that hung, as an autopsy found it. */
export interface StuckProbe {
  readonly pid: number;
  readonly request: string;
  /** What it hung on: a path, an argv. */
  readonly item: string;
  readonly offsetMs: number;
  readonly waitedMs: number;
  readonly state: string | null;
  readonly wchan: string | null;
  readonly syscall: string | null;
  readonly stack: string | null;
  readonly fds: readonly string[];
  /** Its own children (a command that hangs): pid, comm, state, wchan. */
  readonly children: readonly string[];
  /** false: still there after SIGKILL when the run ended. */
  readonly reaped: boolean;
}
