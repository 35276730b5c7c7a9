/** A file with what kubectl says of the pod, that somebody attached to a grab or to a report. */
export interface AttachedText {
  /** Its last part names the entry: `attached/<name>`. */
  readonly name: string;
  readonly text: string;
  /** ms since 1970; null when nobody knows. */
  readonly writtenAt: number | null;
}
