import { escapeLine } from '../formats/escape.ts';
import { isoTime } from '../formats/iso-time.ts';
import type { FileResult } from '../host/port.ts';

/**
 * `ls -l` with nanoseconds: one line per file, columns that do not shift, the name last.
 *
 *     # lstat of /run/containerd/runc/k8s.io/48da…, at 2026-11-29T11:42:35.120Z
 *     file 0600 uid=0 size=8327 mtime=2026-11-29T11:42:33.569336228Z ctime=2026-11-29T11:42:33.569336228Z inode=812 device=26 state.json
 *     fifo 0622 uid=0 size=0 … exec.fifo
 *     link 0777 uid=0 size=121 … work -> /var/lib/containerd/io.containerd.runtime.v2.task/k8s.io/48da…
 *     (gone) init.pid
 */
export function listing(directory: string, readAt: string, entries: readonly ListedFile[]): Buffer {
  const lines = [`# lstat of ${directory}, at ${readAt}`, ...entries.map(lineOf)];
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** One name of a directory with its lstat; `target` for a symbolic link, `remark` for what was left alone on purpose. */
export interface ListedFile {
  readonly name: string;
  readonly file: Pick<FileResult, 'outcome' | 'stat' | 'detail'> | null;
  readonly target?: string;
  readonly remark?: string;
}

function lineOf({ name, file, target, remark }: ListedFile): string {
  const shown = escapeLine(name) + (target === undefined ? '' : ` -> ${escapeLine(target)}`);
  if (remark !== undefined) return `(${remark}) ${shown}`;
  const stat = file?.stat;
  if (file?.outcome === 'gone') return `(not there) ${shown}`;
  if (stat === undefined) return `(${file?.outcome ?? 'not read'}${file?.detail ? `, ${file.detail}` : ''}) ${shown}`;
  const mode = (stat.mode & 0o7777).toString(8).padStart(4, '0');
  const times = `mtime=${isoOfNs(stat.mtimeNs)} ctime=${isoOfNs(stat.ctimeNs)}`;
  const place = `inode=${stat.inode} device=${stat.device}`;
  return `${stat.type} ${mode} uid=${stat.uid} size=${stat.size} ${times} ${place} ${shown}`;
}

/**
 * Nanoseconds since the epoch, as a decimal string -> ISO 8601 in UTC with nine decimals: nothing is rounded. A time that no
 * calendar has (a tmpfs holds any 64-bit number of seconds) comes as `@<seconds>.<nine digits>`.
 */
export function isoOfNs(ns: string): string {
  const value = BigInt(ns);
  const ms = value / 1_000_000n - (value % 1_000_000n < 0n ? 1n : 0n);
  const rest = (value - ms * 1_000_000n).toString().padStart(6, '0');
  const time = isoTime(Number(ms));
  return time === null
    ? `@${value / 1_000_000_000n}.${(value % 1_000_000_000n).toString().replace('-', '').padStart(9, '0')}`
    : time.replace('Z', `${rest}Z`);
}
