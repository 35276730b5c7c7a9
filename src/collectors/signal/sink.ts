import type { FileStat } from '../../host/port.ts';

/** A file that containerd's stderr ends in. */
export interface FileSink {
  readonly kind: 'file';
  /** Whose descriptor leads to it: a rotated file is found again by that link. */
  readonly writer: { readonly pid: number; readonly fd: number };
  /** In front of paths as the writer sees them: '' in our own mount namespace, else `/proc/<writer>/root`. */
  readonly prefix: string;
  readonly path: string;
  /** As it was before the signal: what lies beyond its size is new. Null when that could not be read. */
  readonly before: FileStat | null;
  /** 'descriptor 2 of containerd 812', '… through the pipe to cat 813' */
  readonly words: string;
}

/** systemd's journal. */
export interface JournalSink {
  readonly kind: 'journal';
  /** `_PID` of the entries. */
  readonly pid: number;
  /** Of the newest entry before the signal, where journalctl told it: wall clocks are set back, cursors are not. */
  readonly cursor?: string;
  /** Where journald's root is, when it is not ours (we are in a container): `/proc/612/root`; else ''. */
  readonly root: string;
  readonly words: string;
}

/** A place that cannot be read back: /dev/null, a terminal, a pipe to a program that keeps no file, a file that was deleted. */
export interface NoSink {
  readonly kind: 'none';
  readonly words: string;
}

/** Where containerd writes what it reads from the shim's fifo. */
export type Sink = (FileSink | JournalSink | NoSink) & {
  /** Null, or why nothing gets through to it: a journald or a reader of the pipe that is stopped or hangs in D. */
  readonly hung: string | null;
};

/** What the link text of a descriptor says about the place. */
export type Place =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'deleted-file'; readonly path: string }
  | { readonly kind: 'socket' }
  | { readonly kind: 'pipe' }
  /** /dev/null and other devices: gone for good. */
  | { readonly kind: 'device'; readonly path: string }
  | { readonly kind: 'other'; readonly target: string };

/** @param target of /proc/<pid>/fd/<n> */
export function placeOf(target: string): Place {
  if (/^socket:\[\d+\]$/.test(target)) return { kind: 'socket' };
  if (/^pipe:\[\d+\]$/.test(target)) return { kind: 'pipe' };
  if (/^\/dev\/(?!shm\/)/.test(target)) return { kind: 'device', path: target };
  if (!target.startsWith('/')) return { kind: 'other', target };
  const path = target.replace(/ \(deleted\)$/, '');
  return { kind: path === target ? 'file' : 'deleted-file', path };
}
