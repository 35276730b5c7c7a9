import type { Capture } from '../collector.ts';

const NOTE = 'log turn';

/**
 * Logs are read one after another, though their collectors run at once: each may hold 8 MiB, and a node in trouble is
 * no place for several of them.
 */
export async function inTurn<T>(capture: Capture, read: () => Promise<T>): Promise<T> {
  const before = capture.notes.get(NOTE);
  const turn = (before instanceof Promise ? before : Promise.resolve()).then(read);
  capture.notes.set(
    NOTE,
    turn.catch(() => undefined),
  );
  return turn;
}

/** Kept of each log. It is in memory four times on its way: as it comes, as a whole, without secrets, packed. */
export const LOG_BYTES = 8 * 1024 * 1024;

/** ms since 1970 of the oldest line that was asked for: --since before the start of the run. */
export function oldestWanted(capture: Capture): number {
  return Date.parse(capture.host.startedAt) - capture.options.sinceMs;
}
