import type { Outcome } from './outcome.ts';

/** One thing for a probe to read. */
export interface FileRequest {
  readonly path: string;
  /**
   * `body` (default): the bytes · `link`: readlink, the target is the body · `stat`: lstat only ·
   * `dir`: names of a directory, one per line, a trailing `/` on directories · `room`: bytes that are free on its
   * filesystem, and the type of that (f_type of statfs(2)), as decimal digits.
   */
  readonly what?: 'body' | 'link' | 'stat' | 'dir' | 'room';
  /** Also lstat it (fstat of what was opened, for a body). */
  readonly withStat?: boolean;
  /** Default 1 MiB. */
  readonly maxBytes?: number;
  /** Keep the first (default) or the last `maxBytes`. */
  readonly keep?: 'head' | 'tail';
  /**
   * Of a body that is NUL-separated `NAME=value` (environ): the value of this name alone. The rest does not leave the
   * probe, for environments hold secrets. Outcome `absent` without it.
   */
  readonly variable?: string;
  /**
   * Of a directory: left alone, outcome `absent`, where reading it would write its access time to a disk that has requests
   * waiting. A body is read without that write; of a directory there is no such way, and on a stalled disk it hangs in the journal.
   */
  readonly spareBusyDisk?: true;
  /** Follow a symlink in the last path component (default false: O_NOFOLLOW; /proc magic links are never followed either). */
  readonly follow?: boolean;
}

/** One file as it was read. Times are milliseconds of the monotonic clock since the start of the process. */
export interface FileResult {
  readonly path: string;
  readonly outcome: Outcome;
  readonly body: Buffer;
  readonly detail?: string;
  readonly stat?: FileStat;
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** Nanosecond times as decimal strings: they do not fit a double. */
export interface FileStat {
  readonly type: 'file' | 'dir' | 'link' | 'fifo' | 'socket' | 'device';
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly inode: string;
  readonly device: string;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}
