import type { Place } from '../output.ts';

/** Which file it is, whatever it is called. Decimal: inodes do not fit a double. */
export interface FileIdentity {
  readonly device: string;
  readonly inode: string;
}

/** What a writer has begun in a place that was given up for another one. */
export interface Superseded {
  readonly dir: string;
  readonly name: string;
  readonly file: FileIdentity;
}

/** What a writer is told, as headers of frames (frames.ts) on its stdin. The body of `data` is what to write. */
export type Order =
  | { readonly op: 'open'; readonly place: Place }
  | { readonly op: 'data' }
  /** Make what was written last. */
  | { readonly op: 'sync' }
  /** Give it its final name. Not before it is last: a place that is given up meanwhile must not finish a bundle later. */
  | { readonly op: 'name' }
  /** All that it is to do: take away what another writer has begun. */
  | { readonly op: 'remove'; readonly superseded: Superseded };

/** What it answers, as headers of frames on its descriptor 3: stdout may be the place itself. */
export type Receipt =
  /** It is there, and the place takes bytes. `file`: of a place that is one. */
  | { readonly kind: 'opened'; readonly file?: FileIdentity }
  /** So many bytes of all are out of its hands. */
  | { readonly kind: 'wrote'; readonly bytes: number }
  /** All are out, and last. */
  | { readonly kind: 'synced' }
  /** They have their final name. `path` is absolute, null for stdout. */
  | { readonly kind: 'sealed'; readonly path: string | null }
  /** The place is of no use: an errno. What was written there is removed again, where it can be. */
  | { readonly kind: 'failed'; readonly errno: string };

export const RECEIPTS_FD = 3;
