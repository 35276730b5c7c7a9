import type { BigIntStats } from 'node:fs';
import { parseDiskstats } from '../../formats/proc/diskstats.ts';
import { readText } from '../proc-file.ts';
import { deviceName } from './file-stat.ts';

/** Whether reading this directory would write its access time to a disk that has requests waiting. */
export function wouldWriteToBusyDisk(stat: BigIntStats): boolean {
  return writesAccessTime(stat) && isBusy(deviceName(stat.dev));
}

const DAY_NS = 86_400_000_000_000n;

/** relatime, the default of mounts since Linux 2.6.30: kernel fs/inode.c relatime_need_update. */
function writesAccessTime({ atimeNs, mtimeNs, ctimeNs }: BigIntStats): boolean {
  return atimeNs <= mtimeNs || atimeNs <= ctimeNs || BigInt(Date.now()) * 1_000_000n - atimeNs >= DAY_NS;
}

/** One request in flight is a disk at work, more are a queue. Filesystems without a device of their own (tmpfs, btrfs, NFS) are never busy here. */
function isBusy(device: string): boolean {
  const disks = parseDiskstats(readText('/proc/diskstats').text ?? '');
  return disks.some(({ major, minor, inFlight }) => `${major}:${minor}` === device && inFlight > 1);
}
