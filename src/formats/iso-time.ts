/** The first and the last ms that a Date holds (ECMA-262, "Time Values and Time Range"). */
const LAST_MS = 8.64e15;

/** ms since 1970 as ISO 8601, UTC, ms; null for what no Date holds: toISOString would throw. */
export function isoTime(ms: number): string | null {
  return Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : null;
}

/** The same; a time that no Date holds, from a bundle or a clock that is wrong, becomes the next that one does. */
export function nearestIsoTime(ms: number): string {
  return new Date(Math.min(Math.max(ms, -LAST_MS), LAST_MS) || 0).toISOString();
}
