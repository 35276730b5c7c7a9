/** What was decided about a signal, step by step. */
export interface SignalRecord {
  readonly pid: number;
  /** Whom it was for, where that is no shim. */
  readonly to?: 'containerd' | 'dockerd';
  readonly startTicks: string;
  readonly signal: 'SIGUSR1';
  /** 'sent', or 'not sent (guard: …)'. */
  readonly outcome: string;
  readonly offsetMs: number;
  /** Each guard in order, with what it read. */
  readonly guards: readonly { readonly guard: string; readonly passed: boolean; readonly saw: string }[];
  /** The ladder that waits for the dump: what was tried, when, with what result. */
  readonly steps: readonly { readonly offsetMs: number; readonly step: string; readonly result: string }[];
  /** `complete`, `truncated (at goroutine N)`, `lost (…)`, `not sent (…)`. */
  readonly dump: string;
}
