import { type BigIntStats, constants } from 'node:fs';
import type { FileStat } from '../port.ts';

const TYPES: Readonly<Record<number, FileStat['type']>> = {
  [constants.S_IFREG]: 'file',
  [constants.S_IFDIR]: 'dir',
  [constants.S_IFLNK]: 'link',
  [constants.S_IFIFO]: 'fifo',
  [constants.S_IFSOCK]: 'socket',
};

/** Of the mode (inode(7)). */
export function typeOf(stat: BigIntStats): FileStat['type'] {
  return TYPES[Number(stat.mode) & constants.S_IFMT] ?? 'device';
}

/** An lstat in the words of the port. */
export function toFileStat(stat: BigIntStats): FileStat {
  return {
    type: typeOf(stat),
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o7777,
    uid: Number(stat.uid),
    inode: stat.ino.toString(),
    device: deviceName(stat.dev),
    mtimeNs: stat.mtimeNs.toString(),
    ctimeNs: stat.ctimeNs.toString(),
  };
}

/** `major:minor`, as mountinfo has it: gnu_dev_major and gnu_dev_minor of glibc. */
export function deviceName(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return `${major}:${minor}`;
}
