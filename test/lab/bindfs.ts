import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from './child.ts';
import type { LabFolder } from './folder.ts';
import { alive, mounts, status } from './proc.ts';
import { signal } from './processes.ts';
import { until } from './wait.ts';

/** A FUSE mount: `backing` shown at `point` by one bindfs process. Stop that process, and whoever asks the mount hangs. */
export interface FuseMount {
  readonly pid: number;
  readonly backing: string;
  readonly point: string;
  /** 'major:minor' as in mountinfo; the minor is the directory's name in /sys/fs/fuse/connections. */
  readonly device: string;
}

/** Mounts `<folder>/<name>.backing` at `<folder>/<name>`. @param options of bindfs: '--write-rate=4M', '-oattr_timeout=0' */
export async function bindfs(folder: LabFolder, name: string, options: readonly string[] = []): Promise<FuseMount> {
  const point = join(folder.path, name);
  const backing = `${point}.backing`;
  mkdirSync(point);
  mkdirSync(backing);
  const { pid } = await startChild(folder, 'bindfs', ['-f', ...options, backing, point]);
  const mount = await until(`bindfs at ${point}`, 5000, () => {
    if (!alive(pid)) throw new Error(`bindfs could not mount ${point}`);
    return mounts().find(candidate => candidate.point === point);
  });
  return { pid, backing, point, device: mount.device };
}

/** Stops the daemon of a FUSE mount; letting it go on is on the stack before anybody can wait for it. */
export async function stopFuse(fuse: FuseMount, undo: AsyncDisposableStack): Promise<void> {
  undo.defer(() => signal(fuse.pid, 'SIGCONT'));
  signal(fuse.pid, 'SIGSTOP');
  await until('bindfs to be stopped', 5000, () => status(fuse.pid)?.state === 'T');
}
