import { join } from 'node:path';
import { type Containerd, startContainerd } from '../containerd.ts';
import { type Disk, freeze, makeDisk } from '../disk.ts';
import type { LabFolder } from '../folder.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { type Thread, threads } from '../proc.ts';
import { SYSCALL } from '../syscalls.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface MountFrozen extends Stall {
  readonly containerd: Containerd;
  readonly disk: Disk;
  readonly pod: Pod;
  /** Created; its start hangs. */
  readonly container: PodContainer;
  /** The shim's thread that mounts the container's overlay. */
  readonly thread: Thread;
  /** Settles when StartContainer does; never rejects. @returns the runtime's error, null when it went well */
  readonly started: Promise<Error | null>;
}

/** A pod with a container that is created, and whose snapshots lie on a disk of their own, which is frozen now. */
export async function frozenSnapshots(folder: LabFolder, undo: AsyncDisposableStack) {
  const disk = await makeDisk(folder);
  const config = `[plugins."io.containerd.snapshotter.v1.overlayfs"]\n  root_path = "${join(disk.point, 'snapshots')}"`;
  const containerd = undo.use(await startContainerd({ folder, config }));
  const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
  const container = await pod.createContainer({ name: 'app' });
  await freeze(disk.point, undo);
  return { disk, containerd, pod, container };
}

/** The container is to start, and its shim hangs in mount. */
export function mountFrozen(): Promise<MountFrozen> {
  return stalled(async (folder, undo) => {
    const { disk, containerd, pod, container } = await frozenSnapshots(folder, undo);
    const started = container.start(120_000).then(
      () => null,
      (error: Error) => error,
    );
    const thread = await until('a thread of the shim in mount', 15_000, () =>
      threads(pod.shimPid).find(seen => seen.syscall === SYSCALL.mount && seen.state === 'D'),
    );
    return { containerd, disk, pod, container, thread, started };
  });
}
