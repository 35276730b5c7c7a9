import { join } from 'node:path';
import { type Containerd, startContainerd } from '../containerd.ts';
import { makeSlowDisk, type SlowDisk } from '../disk.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { type Thread, threads } from '../proc.ts';
import { end, signal } from '../processes.ts';
import { SYSCALL } from '../syscalls.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface OverlayUmountSync extends Stall {
  readonly containerd: Containerd;
  readonly disk: SlowDisk;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** The process of the container that was killed. */
  readonly initPid: number;
  /** The shim's thread in umount2, as it was seen first. */
  readonly thread: Thread;
}

/**
 * The classic: a container has written much to its own disk and dies; its shim unmounts the overlay, which first
 * writes everything back, to a slow disk.
 * @param options.writeRate of the disk; `dirtyMiB` divided by it is how long the stall lasts if nobody ends it
 */
export function overlayUmountSync(
  options: { readonly writeRate?: string; readonly dirtyMiB?: number } = {},
): Promise<OverlayUmountSync> {
  const { writeRate = '2M', dirtyMiB = 160 } = options;
  return stalled(async (folder, undo) => {
    const disk = await makeSlowDisk(folder, writeRate);
    // Without its daemon the slow disk fails every write at once: nobody waits for the rest.
    undo.defer(() => end(disk.bindfsPid));
    const containerd = undo.use(await startContainerd({ folder, root: join(disk.point, 'containerd') }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const script = `dd if=/dev/zero of=/big bs=1M count=${dirtyMiB} && touch /written && exec sleep 2147483647`;
    const container = await pod.addContainer({ name: 'app', command: ['sh', '-c', script] });
    const initPid = container.initPid;
    await until('the container to have written its file', 20_000, () =>
      threads(initPid)[0]?.wchan.includes('nanosleep'),
    );
    signal(initPid, 'SIGKILL');
    const thread = await until('a thread of the shim in umount2', 20_000, () =>
      threads(pod.shimPid).find(seen => seen.syscall === SYSCALL.umount2 && seen.stack.includes('ovl_sync_fs')),
    );
    return { containerd, disk, pod, container, initPid, thread };
  });
}
