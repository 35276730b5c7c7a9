import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host/port.ts';

/**
 * Rounds of sampling: 1 at once, then one per interval counted from the first, so that a slow round does not shift the
 * rest. Ends early, without an error, when the signal aborts.
 */
export async function* rounds(
  host: Pick<Host, 'now'>,
  count: number,
  intervalMs: number,
  signal: AbortSignal,
): AsyncGenerator<number> {
  const startMs = host.now().offsetMs;
  for (let round = 1; round <= count; round += 1) {
    const waitMs = startMs + (round - 1) * intervalMs - host.now().offsetMs;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    yield round;
  }
}
