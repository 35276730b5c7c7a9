import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Pod } from '../pod.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface RootfsInUse extends Stall {
  readonly pod: Pod;
  /** The process that stands in it. */
  readonly holderPid: number;
}

/** Somebody's shell stands in the root filesystem of a container, which dies: its unmount is refused, and again. */
export function rootfsInUse(): Promise<RootfsInUse> {
  return stalled(async (folder, undo) => {
    const { containerd, pod, container, initPid } = await runAppPod(folder, undo);
    const shell = spawn('sleep', ['3600'], { cwd: join(container.bundle, 'rootfs'), stdio: 'ignore', detached: true });
    shell.unref();
    folder.process(shell.pid ?? -1, 'sleep');
    undo.defer(() => signal(shell.pid ?? -1, 'SIGKILL'));
    signal(initPid, 'SIGKILL');
    await until('two refusals', 60_000, () => containerd.log().split('device or resource busy').length > 2, 200);
    return { pod, holderPid: shell.pid ?? -1 };
  });
}
