/**
 * /sys/kernel/debug/bdi/<major>:<minor>/stats: kernel mm/backing-dev.c bdi_debug_stats_show. What waits to be written to one
 * disk, where /proc/meminfo has the sum over all. Needs debugfs, which systemd mounts, and root.
 *
 *     BdiWriteback:             4096 kB
 *     BdiReclaimable:         187392 kB
 */
export interface BdiStats {
  /** Dirty, and not sent to the disk yet. */
  readonly dirtyBytes: number;
  /** Sent, and not written yet. */
  readonly writebackBytes: number;
}

/** Null when one of the two is missing. */
export function parseBdiStats(text: string): BdiStats | null {
  const kib = (name: string) => new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1];
  const [dirty, writeback] = [kib('BdiReclaimable'), kib('BdiWriteback')];
  if (dirty === undefined || writeback === undefined) return null;
  return { dirtyBytes: Number(dirty) * 1024, writebackBytes: Number(writeback) * 1024 };
}

/** '254:0' of the path of such a file; null for any other path. */
export function diskOfBdi(path: string): string | null {
  return /^\/sys\/kernel\/debug\/bdi\/(\d+:\d+)\/stats$/.exec(path)?.[1] ?? null;
}
