/** The time of a run for which the deadlines of its parts are made: the default of `--timeout`. */
const USUAL_TIMEOUT_MS = 30_000;

/**
 * How many times longer than usual the parts of a run may take: who gives it more time does so for what did not answer in
 * less, a journal of 10 GB or a disk that answers late. Never below 1: a short run ends at its end, parts or no parts.
 */
export function patienceOf(timeoutMs: number): number {
  return Math.max(1, timeoutMs / USUAL_TIMEOUT_MS);
}
