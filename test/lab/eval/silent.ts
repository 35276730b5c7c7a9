/** What is no stall of the pod that is grabbed, and must not be called one. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startContainerd } from '../containerd.ts';
import { makeSlowDisk } from '../disk.ts';
import type { Pod } from '../pod.ts';
import { threads } from '../proc.ts';
import { end } from '../processes.ts';
import { type AppPod, runAppPod } from '../stalls/app-pod.ts';
import { type Stall, stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';
import { defineGround, SETTLED_MS } from './case.ts';

const QUIET = defineGround<Stall & AppPod>({
  name: 'a containerd that is well',
  make: () => stalled((folder, undo) => runAppPod(folder, undo)),
  cases: [
    {
      kind: 'healthy',
      stall: null,
      how: 'a pod that runs',
      settleMs: 0,
      begin: ({ pod }) => pod.id,
      expected: 'silence',
    },
    {
      kind: 'normal-start',
      stall: null,
      how: 'containers of the pod are created and started while it is grabbed',
      settleMs: 0,
      begin: ({ pod }) => pod.id,
      // What is there at one look may be gone at the next, or not be there yet.
      exit: [0, 3],
      meanwhile: async ({ pod }, over) => {
        for (let n = 1; !over.aborted; n += 1) await pod.addContainer({ name: `more-${n}` });
      },
      expected: 'silence',
    },
    {
      kind: 'normal-stop',
      stall: null,
      how: 'a container is stopped with 8 s of grace, which it uses up',
      // In the middle of its grace.
      settleMs: 5500,
      exit: [0, 3],
      begin: async ({ pod, containerd }) => {
        const { id } = await pod.addContainer({ name: `stopped-${Date.now()}` });
        // Process 1 of a pid namespace has no handler for SIGTERM, so it lasts until SIGKILL. It may end with the folder.
        containerd.cri.call('StopContainer', { container_id: id, timeout: 8 }, 60_000).catch(() => undefined);
        return pod.id;
      },
      expected: 'silence',
    },
  ],
});

interface SlowDiskShared extends Stall {
  /** Has written, and sleeps. */
  readonly pod: Pod;
  readonly initPid: number;
  /** Writes without end, once it is told to. */
  readonly neighbourPid: number;
}

const WRITTEN = 'dd if=/dev/zero of=/big bs=1M count=96 && touch /written && exec sleep 2147483647';
const WRITES = 'until [ -e /dev/shm/go ]; do sleep 0.1; done; while :; do dd if=/dev/zero of=/big bs=1M count=32; done';

function slowDiskShared(): Promise<SlowDiskShared> {
  return stalled(async (folder, undo) => {
    const disk = await makeSlowDisk(folder, '4M');
    undo.defer(() => end(disk.bindfsPid));
    const containerd = undo.use(await startContainerd({ folder, root: join(disk.point, 'containerd') }));
    const neighbour = await containerd.runPod({ name: 'batch-7', namespace: 'shop' });
    const writer = await neighbour.addContainer({ name: 'app', command: ['sh', '-c', WRITES] });
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const { initPid } = await pod.addContainer({ name: 'app', command: ['sh', '-c', WRITTEN] });
    await until('the file to be written', 20_000, () => threads(initPid)[0]?.wchan.includes('nanosleep'));
    return { pod, initPid, neighbourPid: writer.initPid };
  });
}

const SLOW_DISK_SHARED = defineGround<SlowDiskShared>({
  name: 'a slow disk that others are busy with',
  make: slowDiskShared,
  cases: [
    {
      kind: 'somebody-syncs',
      stall: null,
      how: "`sync -f` of the pod's filesystem waits below ovl_sync_fs",
      settleMs: SETTLED_MS,
      begin: async ({ folder, pod, initPid }) => {
        // Of this one filesystem, as seen through the overlay: sync(1) of everything would wait for the disks of others.
        const sync = spawn('sync', ['-f', `/proc/${initPid}/root/big`], { stdio: 'ignore', detached: true });
        sync.unref();
        folder.process(sync.pid ?? -1, 'sync');
        await until('sync to wait', 10_000, () =>
          threads(sync.pid ?? 0).find(({ stack }) => stack.includes('ovl_sync_fs')),
        );
        return pod.id;
      },
      expected: 'silence',
    },
    {
      kind: 'dd-next-door',
      stall: null,
      how: 'dd without end in another pod on the same slow disk',
      settleMs: SETTLED_MS,
      begin: ({ pod, neighbourPid }) => {
        writeFileSync(`/proc/${neighbourPid}/root/dev/shm/go`, '');
        return pod.id;
      },
      expected: 'silence',
    },
  ],
});

export const SILENT = [QUIET, SLOW_DISK_SHARED];
