import { bindfs, type FuseMount, stopFuse } from '../bindfs.ts';
import { type Containerd, startContainerd } from '../containerd.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { status, type Thread, threads, withDescendants } from '../proc.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface MountFuseStopped extends Stall {
  readonly containerd: Containerd;
  readonly pod: Pod;
  /** Created; its start hangs. */
  readonly container: PodContainer;
  /** The mount with a volume in it, whose daemon is stopped. */
  readonly fuse: FuseMount;
  /** `runc create`, child of the shim. */
  readonly runcPid: number;
  /** The thread of `runc init` that waits for FUSE: in S, not in D. */
  readonly thread: Thread;
  /** Settles when StartContainer does; never rejects. @returns the runtime's error, null when it went well */
  readonly started: Promise<Error | null>;
}

/** A container whose volume lies on a FUSE mount that no longer answers: its start hangs in `runc init`. */
export function mountFuseStopped(): Promise<MountFuseStopped> {
  return stalled(async (folder, undo) => {
    const containerd = undo.use(await startContainerd({ folder }));
    // Without the kernel's caches, so that each look at the volume asks the daemon.
    const fuse = await bindfs(folder, 'volume', ['-oattr_timeout=0,entry_timeout=0']);
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.createContainer({
      name: 'app',
      mounts: [{ hostPath: fuse.point, containerPath: '/volume' }],
    });
    await stopFuse(fuse, undo);
    const started = container.start(120_000).then(
      () => null,
      (error: Error) => error,
    );
    const thread = await until('runc init to wait for FUSE', 15_000, () => fuseWaiter(pod.shimPid));
    const runcPid = status(thread.pid)?.ppid ?? 0;
    return { containerd, pod, container, fuse, runcPid, thread, started };
  });
}

/** A thread of a child of the shim that waits for the answer to a FUSE request. */
function fuseWaiter(shimPid: number): Thread | undefined {
  return [...withDescendants([shimPid])]
    .filter(pid => status(pid)?.comm.startsWith('runc:[2'))
    .flatMap(threads)
    .find(seen => seen.state === 'S' && seen.stack.includes('request_wait_answer'));
}
