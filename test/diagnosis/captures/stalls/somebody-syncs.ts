import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startContainerd } from '../../../lab/containerd.ts';
import { makeSlowDisk } from '../../../lab/disk.ts';
import type { Pod } from '../../../lab/pod.ts';
import { threads } from '../../../lab/proc.ts';
import { end } from '../../../lab/processes.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';
import { until } from '../../../lab/wait.ts';

export interface SomebodySyncs extends Stall {
  readonly pod: Pod;
}

/** A sync(1) that waits below ovl_sync_fs for a slow disk, while every container of the pod is well. */
export function somebodySyncs(): Promise<SomebodySyncs> {
  return stalled(async (folder, undo) => {
    const disk = await makeSlowDisk(folder, '2M');
    undo.defer(() => end(disk.bindfsPid));
    const containerd = undo.use(await startContainerd({ folder, root: join(disk.point, 'containerd') }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const script = 'dd if=/dev/zero of=/big bs=1M count=160 && touch /written && exec sleep 2147483647';
    const { initPid } = await pod.addContainer({ name: 'app', command: ['sh', '-c', script] });
    await until('the file to be written', 20_000, () => threads(initPid)[0]?.wchan.includes('nanosleep'));
    // Of this one filesystem, as seen through the overlay: sync(1) of everything would wait for the disks of others.
    const sync = spawn('sync', ['-f', `/proc/${initPid}/root/big`], { stdio: 'ignore', detached: true });
    sync.unref();
    folder.process(sync.pid ?? -1, 'sync');
    await until('sync to wait', 10_000, () =>
      threads(sync.pid ?? 0).find(({ stack }) => stack.includes('ovl_sync_fs')),
    );
    return { pod };
  });
}
