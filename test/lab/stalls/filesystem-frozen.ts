import { join } from 'node:path';
import { type Containerd, startContainerd } from '../containerd.ts';
import { type Disk, makeDisk } from '../disk.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { type Thread, threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { run } from '../run.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface FilesystemFrozen extends Stall {
  readonly containerd: Containerd;
  readonly disk: Disk;
  readonly pod: Pod;
  readonly container: PodContainer;
  readonly initPid: number;
  /** containerd's thread that wants to write the container's status file. */
  readonly thread: Thread;
}

/** Freezes a filesystem; thawing is on the stack before anybody can wait for it. */
export async function freeze(point: string, undo: AsyncDisposableStack): Promise<void> {
  await run('fsfreeze', ['-f', point]);
  undo.defer(async () => void (await run('fsfreeze', ['-u', point])));
}

/** The filesystem below containerd's root is frozen, as a snapshot tool does it, and then a container dies. */
export function filesystemFrozen(): Promise<FilesystemFrozen> {
  return stalled(async (folder, undo) => {
    const disk = await makeDisk(folder);
    const containerd = undo.use(await startContainerd({ folder, root: join(disk.point, 'containerd') }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.addContainer({ name: 'app' });
    const initPid = container.initPid;
    await freeze(disk.point, undo);
    signal(initPid, 'SIGKILL');
    const thread = await until('a thread of containerd that waits for the frozen filesystem', 15_000, () =>
      threads(containerd.pid).find(seen => seen.state === 'D' && seen.stack.includes('mnt_want_write')),
    );
    return { containerd, disk, pod, container, initPid, thread };
  });
}
