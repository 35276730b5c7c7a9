/**
 * The run's own clock: milliseconds since the start of the process, node's boot included. All of it is CLOCK_MONOTONIC,
 * which every process of the node shares, so a probe sends its raw readings and the parent turns them into offsets.
 */

/** CLOCK_MONOTONIC, ms. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

const originMs = readOrigin();

/** Of some pairs of readings the one that was least interrupted: a busy node may take the CPU away in between. */
function readOrigin(): number {
  let origin = 0;
  let narrowest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 8 && narrowest > 0.02; attempt += 1) {
    const before = performance.now();
    const reading = monotonicMs();
    const width = performance.now() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    origin = reading - before;
  }
  return origin;
}

/** ms since the start of this process: now, or at a reading of `monotonicMs` in any process of the node. */
export function offsetMs(reading?: number): number {
  return toMicroseconds(reading === undefined ? performance.now() : reading - originMs);
}

/** ISO 8601, UTC, ms: offset 0. */
export const startedAt: string = new Date(performance.timeOrigin).toISOString();

/** When something began and how long it took until now, from a reading of `monotonicMs`: the two times of every result. */
export function timesSince(began: number): { readonly offsetMs: number; readonly durationMs: number } {
  return { offsetMs: offsetMs(began), durationMs: toMicroseconds(monotonicMs() - began) };
}

/** ms with three decimals: what is behind them is noise, and fills manifests. */
export function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
