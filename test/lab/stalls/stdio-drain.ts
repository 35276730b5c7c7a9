import { startChild } from '../child.ts';
import { pids, status } from '../proc.ts';
import { signal } from '../processes.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface StdioDrain extends Stall, AppPod {
  /** A process outside of the container that holds its stdout open. */
  readonly holderPid: number;
}

/**
 * A container is dead, and somebody else still holds its stdout: its shim waits for the end of the output before it
 * deletes it. Lasts 2 s with containerd up to 1.7.28, 10 s with later ones, and then goes on by itself.
 */
export function stdioDrain(options: { readonly bin?: string } = {}): Promise<StdioDrain> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo, options);
    const { pod, initPid } = app;
    const hold = 'exec sleep 2147483647 >"$0"';
    const { pid: holderPid } = await startChild(folder, 'sh', ['-c', hold, `/proc/${initPid}/fd/1`]);
    await until('the holder to run', 5000, () => status(holderPid)?.comm === 'sleep');
    signal(initPid, 'SIGKILL');
    await until('the shim to have reaped the container', 5000, () => status(initPid) === null, 5);
    // runc is asked to kill what is left in the container, and asked to delete it after the drain: in between, for
    // the length of the drain, the shim has no child but those of the pod.
    let busy = performance.now();
    await until('the shim to wait for the output', 5000, () => {
      if (pids().some(pid => isRuncOf(pod.shimPid, pid))) busy = performance.now();
      return performance.now() - busy > 200;
    });
    return { ...app, holderPid };
  });
}

function isRuncOf(shimPid: number, pid: number): boolean {
  const seen = status(pid);
  return seen?.ppid === shimPid && seen.comm.startsWith('runc');
}
