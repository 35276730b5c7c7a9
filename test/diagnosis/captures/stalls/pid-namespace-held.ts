import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bindfs, stopFuse } from '../../../lab/bindfs.ts';
import { startContainerd } from '../../../lab/containerd.ts';
import type { Pod } from '../../../lab/pod.ts';
import { threads, withDescendants } from '../../../lab/proc.ts';
import { signal } from '../../../lab/processes.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';
import { until } from '../../../lab/wait.ts';

export interface PidNamespaceHeld extends Stall {
  readonly pod: Pod;
}

/** A container's init dies, and one process of its pid namespace does not: it waits for a FUSE daemon that has stopped. */
export function pidNamespaceHeld(): Promise<PidNamespaceHeld> {
  return stalled(async (folder, undo) => {
    const containerd = undo.use(await startContainerd({ folder }));
    // As in fuse-stopped.ts: a request that was taken and is not answered cannot be killed.
    const fuse = await bindfs(folder, 'volume', ['-odirect_io', '--read-rate=64k']);
    writeFileSync(join(fuse.backing, 'asked'), Buffer.alloc(2 ** 20));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.addContainer({
      name: 'app',
      command: ['sh', '-c', 'dd if=/volume/asked of=/dev/null bs=128k & exec sleep 2147483647'],
      mounts: [{ hostPath: fuse.point, containerPath: '/volume' }],
    });
    const { initPid } = container;
    const inCall = (symbol: string) => () =>
      [...withDescendants([initPid])].flatMap(threads).find(({ stack }) => stack.includes(symbol));
    await until('a reader to wait for its answer', 10_000, inCall('request_wait_answer'));
    await sleep(100);
    await stopFuse(fuse, undo);
    signal(initPid, 'SIGKILL');
    await until('init to wait for its namespace', 10_000, inCall('zap_pid_ns_processes'));
    return { pod };
  });
}
