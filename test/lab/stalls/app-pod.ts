import { type Containerd, type ContainerdOptions, startContainerd } from '../containerd.ts';
import type { LabFolder } from '../folder.ts';
import type { Pod, PodContainer } from '../pod.ts';

/** What most stalls happen to: a containerd, and in it the pod shop/web-0 with one container, app. */
export interface AppPod {
  readonly containerd: Containerd;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** Process of the container, from before the stall. */
  readonly initPid: number;
}

export async function runAppPod(
  folder: LabFolder,
  undo: AsyncDisposableStack,
  options: Omit<ContainerdOptions, 'folder'> = {},
): Promise<AppPod> {
  const containerd = undo.use(await startContainerd({ ...options, folder }));
  const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
  const container = await pod.addContainer({ name: 'app' });
  return { containerd, pod, container, initPid: container.initPid };
}
