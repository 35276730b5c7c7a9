import { join } from 'node:path';
import { type Disk, freeze, makeDisk } from '../disk.ts';
import { type Thread, threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface FilesystemFrozen extends Stall, AppPod {
  readonly disk: Disk;
  /** containerd's thread that wants to write the container's status file. */
  readonly thread: Thread;
}

/** The filesystem below containerd's root is frozen, as a snapshot tool does it, and then a container dies. */
export function filesystemFrozen(): Promise<FilesystemFrozen> {
  return stalled(async (folder, undo) => {
    const disk = await makeDisk(folder);
    const app = await runAppPod(folder, undo, { root: join(disk.point, 'containerd') });
    const { containerd, initPid } = app;
    await freeze(disk.point, undo);
    signal(initPid, 'SIGKILL');
    const thread = await until('a thread of containerd that waits for the frozen filesystem', 15_000, () =>
      threads(containerd.pid).find(seen => seen.state === 'D' && seen.stack.includes('mnt_want_write')),
    );
    return { ...app, disk, thread };
  });
}
