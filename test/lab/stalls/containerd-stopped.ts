import { alive, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export type ContainerdGone = Stall & AppPod;

/** containerd is stopped (T): its sockets take connections and never answer, and nobody drains the shims' logs. */
export function containerdStopped(): Promise<ContainerdGone> {
  return stalled(async (folder, undo) => {
    const facts = await runAppPod(folder, undo);
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
    const facts = await runAppPod(folder, undo);
    await facts.containerd.kill();
    await until('the shim to have outlived containerd', 5000, () => alive(facts.pod.shimPid));
    return facts;
  });
}
