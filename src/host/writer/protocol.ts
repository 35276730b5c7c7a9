import type { Place } from '../output.ts';

/** What a writer is told, as headers of frames (frames.ts) on its stdin. The body of `data` is what to write. */
export type Order = { readonly op: 'open'; readonly place: Place } | { readonly op: 'data' } | { readonly op: 'seal' };

/** What it answers, as headers of frames on its descriptor 3: stdout may be the place itself. */
export type Receipt =
  /** It is there, and the place takes bytes. */
  | { readonly kind: 'opened' }
  /** So many bytes of all are out of its hands. */
  | { readonly kind: 'wrote'; readonly bytes: number }
  /** All are out, and have their final name. `path` is absolute, null for stdout. */
  | { readonly kind: 'sealed'; readonly path: string | null }
  /** The place is of no use: an errno. What was written there is removed again, where it can be. */
  | { readonly kind: 'failed'; readonly errno: string };

export const RECEIPTS_FD = 3;
