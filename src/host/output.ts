/** Where the bundle's bytes go. Owned by an expendable writer child: see writer/. */

/** One place to try, in order. */
export type Place =
  | { readonly kind: 'file'; readonly dir: string; readonly name: string; readonly why: string }
  /** A stream that this process was started with: descriptor 1 unless `fd` says 2. */
  | { readonly kind: 'stdout'; readonly why: string; readonly fd?: 1 | 2 };

export interface Sealed {
  /** Absolute path of the finished file; null for stdout. */
  readonly path: string | null;
  readonly bytes: number;
  /** Places that were given up before, with the reason: 'no answer for 1500 ms', 'ENOSPC', 'EPIPE'. */
  readonly abandoned: readonly { readonly place: string; readonly reason: string }[];
}

export interface Output {
  /** Hands over compressed bytes; never blocks, never throws. Kept in memory until the writer has confirmed the seal. */
  write(chunk: Buffer): void;
  /** Bytes handed over so far. */
  readonly bytes: number;
  /** Writes what is left, fsyncs where that answers, renames `.partial` to the final name. Rejects when no place took it. */
  seal(deadlineMs: number): Promise<Sealed>;
  /** Where it goes at this moment, for messages. */
  readonly current: string;
}
