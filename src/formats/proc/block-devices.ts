/** Which block devices and drivers there are: /proc/partitions and /proc/devices (proc_partitions(5), proc_devices(5)). */
export interface Partition {
  /** `254:0`. */
  readonly device: string;
  readonly name: string;
  readonly bytes: number;
}

/** Whole disks and partitions alike; sysfs tells which is part of which. */
export function parsePartitions(text: string): readonly Partition[] {
  return [...text.matchAll(/^ *(\d+) +(\d+) +(\d+) (\S+)$/gm)].map(([, major, minor, blocks, name = '']) => ({
    device: `${major}:${minor}`,
    name,
    bytes: Number(blocks) * 1024,
  }));
}

/** Major number to driver, of block devices alone: 7 -> `loop`, 253 -> `device-mapper`. */
export function parseBlockDrivers(text: string): ReadonlyMap<number, string> {
  const block = text.slice(text.indexOf('Block devices:'));
  return new Map([...block.matchAll(/^ *(\d+) (\S+)$/gm)].map(([, major, name = '']) => [Number(major), name]));
}

/** `254:0` of a decimal st_dev as stat(2) gives it: glibc's gnu_dev_major and gnu_dev_minor. */
export function deviceOfStat(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}
