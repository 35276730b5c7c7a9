/**
 * How the run's time is shared out. All times are ms since the start of the process, on the monotonic clock.
 *
 * A run may take `timeoutMs`; sealing the bundle gets the last part of it, since whatever was captured by then
 * must become readable even when the first place to write to does not answer.
 */
export interface Budget {
  /** Collecting ends here. */
  readonly collectUntilMs: number;
  /** The process is gone here, sealed or not. */
  readonly endMs: number;
}

/** Sealing: 1.5 s of silence condemn a writer, and the replay into tmpfs takes less than half a second per 100 MiB. */
const SEAL_RESERVE_MS = 2500;
/** Grace beyond --timeout in which a seal that is under way may end. */
const OVERTIME_MS = 1500;

export function shareOut(timeoutMs: number): Budget {
  const reserve = Math.min(SEAL_RESERVE_MS, timeoutMs * 0.25);
  return { collectUntilMs: timeoutMs - reserve, endMs: timeoutMs + OVERTIME_MS };
}
