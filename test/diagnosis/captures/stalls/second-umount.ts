import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startContainerd } from '../../../lab/containerd.ts';
import { makeSlowDisk } from '../../../lab/disk.ts';
import type { Pod } from '../../../lab/pod.ts';
import { threads } from '../../../lab/proc.ts';
import { end, signal } from '../../../lab/processes.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';
import { until } from '../../../lab/wait.ts';

export interface SecondUmount extends Stall {
  readonly pod: Pod;
}

/**
 * One container's umount writes back to a slow disk, a remount of that disk waits behind it for the superblock, and the
 * umount of another container waits behind the remount: for a lock, not for the disk.
 */
export function secondUmount(): Promise<SecondUmount> {
  return stalled(async (folder, undo) => {
    const disk = await makeSlowDisk(folder, '2M');
    undo.defer(() => end(disk.bindfsPid));
    const containerd = undo.use(await startContainerd({ folder, root: join(disk.point, 'containerd') }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const second = await pod.addContainer({ name: 'second' });
    const script = 'dd if=/dev/zero of=/big bs=1M count=160 && touch /written && exec sleep 2147483647';
    const first = await pod.addContainer({ name: 'first', command: ['sh', '-c', script] });
    const { initPid } = first;
    await until('the file to be written', 20_000, () => threads(initPid)[0]?.wchan.includes('nanosleep'));
    // /proc/<pid>/stack leaves out the functions of locks: whoever waits for one stands in its caller.
    const standsIn = (symbol: string) => (pid: number) => threads(pid).find(({ stack }) => stack[0] === symbol);
    const secondPid = second.initPid;
    signal(initPid, 'SIGKILL');
    await until('the first umount', 20_000, () => standsIn('wb_wait_for_completion')(pod.shimPid));
    const remount = spawn('mount', ['-o', 'remount,rw', disk.point], { stdio: 'ignore', detached: true });
    remount.unref();
    folder.process(remount.pid ?? -1, 'mount');
    await until('the remount to wait', 5000, () => standsIn('path_mount')(remount.pid ?? 0));
    signal(secondPid, 'SIGKILL');
    await until('the second umount', 20_000, () => standsIn('ovl_sync_fs')(pod.shimPid));
    return { pod };
  });
}
