import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bindfs } from './bindfs.ts';
import type { LabFolder } from './folder.ts';
import { run } from './run.ts';

/** An ext4 filesystem on a loop device whose image is a sparse file. */
export interface Disk {
  /** '/dev/loop0' */
  readonly device: string;
  readonly point: string;
}

export interface SlowDisk extends Disk {
  /** The bindfs that every byte goes through: without it all writes fail at once. */
  readonly bindfsPid: number;
}

const SIZE = 2 * 2 ** 30;

/** Makes and mounts a disk at `<folder>/disk`. It goes with the folder. */
export async function makeDisk(folder: LabFolder): Promise<Disk> {
  return mountImage(folder, await makeImage(folder, folder.path));
}

/**
 * The same on a disk that writes slowly, as a capped cloud disk does.
 * @param writeRate bytes per second with suffix, as bindfs takes them: '4M'
 */
export async function makeSlowDisk(folder: LabFolder, writeRate: string): Promise<SlowDisk> {
  const slow = await bindfs(folder, 'slow', [`--write-rate=${writeRate}`]);
  // Formatted past bindfs, at full speed.
  const image = await makeImage(folder, slow.backing);
  return { ...(await mountImage(folder, join(slow.point, basename(image)))), bindfsPid: slow.pid };
}

/** The image's name has the folder's in it: by that its loop device is found again. */
async function makeImage(folder: LabFolder, dir: string): Promise<string> {
  const image = join(dir, `${folder.name}.img`);
  const file = openSync(image, 'w');
  ftruncateSync(file, SIZE);
  closeSync(file);
  await run('mkfs.ext4', ['-q', '-F', '-E', 'lazy_itable_init=1,nodiscard', '-J', 'size=8', image]);
  return image;
}

async function mountImage(folder: LabFolder, image: string): Promise<Disk> {
  const device = await run('losetup', ['-f', '--show', image]);
  const point = join(folder.path, 'disk');
  mkdirSync(point);
  // noinit_itable: no background writes of the kernel's own on a slow disk
  await run('mount', ['-t', 'ext4', '-o', 'noinit_itable', device, point]);
  return { device, point };
}

/** Freezes a filesystem; thawing is on the stack before anybody can wait for it. */
export async function freeze(point: string, undo: AsyncDisposableStack): Promise<void> {
  await run('fsfreeze', ['-f', point]);
  undo.defer(async () => void (await run('fsfreeze', ['-u', point])));
}
