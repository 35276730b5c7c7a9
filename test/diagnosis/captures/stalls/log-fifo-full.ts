import { setTimeout as sleep } from 'node:timers/promises';
import { threads } from '../../../lab/proc.ts';
import { signal } from '../../../lab/processes.ts';
import { type ContainerdGone, containerdStopped } from '../../../lab/stalls/containerd-stopped.ts';
import { until } from '../../../lab/wait.ts';

/** containerd is stopped, and somebody has asked the shim for its goroutines again and again: its logger hangs on the full fifo. */
export async function logFifoFull(): Promise<ContainerdGone> {
  const stall = await containerdStopped();
  for (let dump = 0; dump < 8; dump += 1) {
    signal(stall.pod.shimPid, 'SIGUSR1');
    await sleep(150);
  }
  await until('a thread of the shim that cannot write its log', 10_000, () =>
    threads(stall.pod.shimPid).some(({ wchan }) => wchan.endsWith('pipe_write')),
  );
  return stall;
}
