import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { bindfs } from './bindfs.ts';
import type { LabFolder } from './folder.ts';
import { run } from './run.ts';

/** An ext4 filesystem on a loop device whose image is a sparse file. */
export interface Disk {
  /** '/dev/loop0' */
  readonly device: string;
  readonly point: string;
  /** The bindfs that every byte goes through; null when the disk is not a slow one. */
  readonly bindfsPid: number | null;
}

export interface DiskOptions {
  readonly name?: string;
  readonly sizeMiB?: number;
  /** bytes per second with suffix, as bindfs takes them ('4M'): what a capped cloud disk does to its writers. */
  readonly writeRate?: string;
}

/** Makes and mounts a disk at `<folder>/<name>`. It goes with the folder. */
export async function makeDisk(folder: LabFolder, options: DiskOptions = {}): Promise<Disk> {
  const { name = 'disk', sizeMiB = 2048, writeRate } = options;
  const slow = writeRate === undefined ? null : await bindfs(folder, `${name}.slow`, [`--write-rate=${writeRate}`]);
  const image = (at: string) => join(at, `${folder.name}-${name}.img`);
  // Formatted past bindfs, at full speed.
  const direct = image(slow?.backing ?? folder.path);
  const file = openSync(direct, 'w');
  ftruncateSync(file, sizeMiB * 2 ** 20);
  closeSync(file);
  await run('mkfs.ext4', ['-q', '-F', '-E', 'lazy_itable_init=1,nodiscard', '-J', 'size=8', direct]);

  const device = await run('losetup', ['-f', '--show', image(slow?.point ?? folder.path)]);
  const point = join(folder.path, name);
  mkdirSync(point);
  // noinit_itable: no background writes of the kernel's own on a slow disk
  await run('mount', ['-t', 'ext4', '-o', 'noinit_itable', device, point]);
  return { device, point, bindfsPid: slow?.pid ?? null };
}
