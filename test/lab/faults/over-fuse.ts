import { join } from 'node:path';
import { type FuseMount, stopFuse } from '../bindfs.ts';
import { startChild } from '../child.ts';
import type { LabFolder } from '../folder.ts';
import { alive, mounts, threads } from '../proc.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';

/**
 * Lays a FUSE mount over a directory, which it shows as it is. Whoever has opened files of it before goes on as ever; who
 * comes now asks the daemon, which answers `bytesPerSecond`, without any cache of the kernel.
 */
export async function overFuse(folder: LabFolder, directory: string, bytesPerSecond: number): Promise<FuseMount> {
  const options = ['-f', '-odirect_io,attr_timeout=0,entry_timeout=0,nonempty', `--read-rate=${bytesPerSecond}`];
  const { pid } = await startChild(folder, 'bindfs', [...options, directory, directory]);
  const mount = await until(`bindfs over ${directory}`, 5000, () => {
    if (!alive(pid)) throw new Error(`bindfs could not mount over ${directory}`);
    return mounts().find(({ point, fstype }) => point === directory && fstype.startsWith('fuse'));
  });
  return { pid, backing: directory, point: directory, device: mount.device };
}

/** One file of a FUSE mount in place of another file, by whose name it is found from now on. */
export async function bindOver(fuse: FuseMount, name: string, file: string): Promise<void> {
  await run('mount', ['--bind', join(fuse.point, name), file]);
}

/**
 * Stops the daemon of a mount as soon as one of these processes waits for bytes that the daemon has promised. From then on
 * that one does not even follow SIGKILL. @returns its pid
 */
export async function stopUnder(
  fuse: FuseMount,
  readers: () => readonly number[],
  undo: AsyncDisposableStack,
): Promise<number> {
  const reads = (pid: number) =>
    threads(pid)[0]
      ?.stack.join()
      .match(/request_wait_answer.*fuse_direct_/);
  const pid = await until('a reader of the FUSE mount', 20_000, () => readers().find(reads), 5);
  await stopFuse(fuse, undo);
  return pid;
}
