/** What came out of containerd's sink since the signal. */
export interface SinkText {
  readonly text: string;
  /** The file or command that was read. */
  readonly source: string;
  /** Null, or why it could not be read. */
  readonly failed: string | null;
  /** It did not answer. */
  readonly hung: boolean;
  readonly rateLimited: boolean;
  /** What else was noticed: a rotation, messages that were dropped. */
  readonly notes: readonly string[];
}
