import { type Containerd, startContainerd } from '../containerd.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { alive, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface ContainerdGone extends Stall {
  readonly containerd: Containerd;
  readonly pod: Pod;
  readonly container: PodContainer;
}

async function withPod(
  folder: Stall['folder'],
  undo: AsyncDisposableStack,
): Promise<Omit<ContainerdGone, keyof Stall>> {
  const containerd = undo.use(await startContainerd({ folder }));
  const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
  const container = await pod.addContainer({ name: 'app' });
  return { containerd, pod, container };
}

/** containerd is stopped (T): its sockets take connections and never answer, and nobody drains the shims' logs. */
export function containerdStopped(): Promise<ContainerdGone> {
  return stalled(async (folder, undo) => {
    const facts = await withPod(folder, undo);
    const { pid } = facts.containerd;
    undo.defer(() => signal(pid, 'SIGCONT'));
    signal(pid, 'SIGSTOP');
    await until('containerd to be stopped', 5000, () => status(pid)?.state === 'T');
    return facts;
  });
}

/** containerd is dead: the pod and its shim live on, and the shim's log has no reader. */
export function containerdDead(): Promise<ContainerdGone> {
  return stalled(async (folder, undo) => {
    const facts = await withPod(folder, undo);
    await facts.containerd.kill();
    await until('the shim to have outlived containerd', 5000, () => alive(facts.pod.shimPid));
    return facts;
  });
}
