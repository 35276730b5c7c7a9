import type { Capture } from '../collector.ts';

const NOTE = 'log turn';

/**
 * Logs are read one after another, though their collectors run at once: each may hold 16 MiB, and a node in trouble is
 * no place for several of them. A turn ends when the next piece of evidence is asked for, which is when this one is packed.
 */
export async function* inTurn<T>(capture: Capture, read: () => Promise<T>): AsyncGenerator<T, void> {
  const before = capture.notes.get(NOTE);
  const turn = Promise.withResolvers<void>();
  capture.notes.set(NOTE, turn.promise);
  try {
    await before;
    yield await read();
  } finally {
    turn.resolve();
  }
}

/** Kept of each log. On its way it is in memory twice, as it came and without its secrets, and once more packed. */
export const LOG_BYTES = 16 * 1024 * 1024;

/** ms since 1970 of the oldest line that was asked for: --since before the start of the run. */
export function oldestWanted(capture: Capture): number {
  return Date.parse(capture.host.startedAt) - capture.options.sinceMs;
}
