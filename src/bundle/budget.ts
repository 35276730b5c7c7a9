import { BUNDLE_LIMITS } from './limits.ts';

/**
 * What `--max-size` leaves for one more entry.
 *
 * Two reserves: the manifest and the summary always fit, and logs (the bulk, and not what only this moment can show)
 * leave an eighth to everything else.
 */

/** SUMMARY.md, stuck probes with their stacks, the end of the tar and the seal. */
const CLOSING_BYTES = 48 * 1024;
/** An item in the manifest: the hash alone is 32 bytes that do not compress. */
const BYTES_PER_ITEM = 160;

export interface Spent {
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly items: number;
}

/** Compressed bytes that an entry at `path` may still take; 0 or less when there is no room. */
export function roomFor(path: string, maxBytes: number, spent: Spent): number {
  const closing = CLOSING_BYTES + (spent.items + 1) * BYTES_PER_ITEM;
  const forOthers = isLog(path) ? Math.floor(maxBytes / 8) : 0;
  return maxBytes - spent.packedBytes - closing - forOthers;
}

/** Uncompressed bytes that an entry may have, before a reader would take the bundle for a bomb. */
export function unpackedRoom(spent: Spent): number {
  const closing = 64 * 1024 * 1024;
  return Math.max(0, BUNDLE_LIMITS.unpackedBytes - closing - spent.unpackedBytes);
}

/** Logs are cut first, and from their oldest end. */
export function isLog(path: string): boolean {
  return path.startsWith('logs/');
}
