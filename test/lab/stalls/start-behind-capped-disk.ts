import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Containerd, startContainerd } from '../containerd.ts';
import { makeSlowDisk, type SlowDisk } from '../disk.ts';
import type { Pod, PodContainer } from '../pod.ts';
import { type Thread, threads, withDescendants } from '../proc.ts';
import { end } from '../processes.ts';
import { SYSCALL } from '../syscalls.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface StartBehindCappedDisk extends Stall {
  readonly containerd: Containerd;
  readonly disk: SlowDisk;
  readonly pod: Pod;
  /** Created; its start takes as long as the disk. */
  readonly container: PodContainer;
  /** Writes without end, in the pod shop/batch-7. */
  readonly neighbourPid: number;
  /** Of the shim, of its runc or of containerd: waits for the disk. */
  readonly thread: Thread;
  /** Settles when StartContainer does; never rejects. @returns the runtime's error, null when it went well */
  readonly started: Promise<Error | null>;
}

const WRITES =
  'until [ -e /dev/shm/go ]; do sleep 0.1; done; while :; do n=$((n+1)); dd if=/dev/zero of=/big-$n bs=1M count=200 conv=fsync; done';

const TRIES = 4;
const HANGS_MS = 6000;

async function firstThatHangs(
  created: readonly PodContainer[],
): Promise<Pick<StartBehindCappedDisk, 'container' | 'started'>> {
  for (const container of created) {
    const started = container.start(120_000).then(
      () => null,
      (error: Error) => error,
    );
    const hangs = await Promise.race([started.then(() => false), sleep(HANGS_MS, true)]);
    if (hangs) return { container, started };
  }
  throw new Error(`${created.length} containers were started within ${HANGS_MS} ms each`);
}

/** A neighbour writes all that the disk of the containers is allowed to, and a container is to be started on it. */
export function startBehindCappedDisk(): Promise<StartBehindCappedDisk> {
  return stalled(async (folder, undo) => {
    const disk = await makeSlowDisk(folder, '2M');
    undo.defer(() => end(disk.bindfsPid));
    const containerd = undo.use(await startContainerd({ folder, root: join(disk.point, 'containerd') }));
    const neighbour = await containerd.runPod({ name: 'batch-7', namespace: 'shop' });
    const writer = await neighbour.addContainer({ name: 'app', command: ['sh', '-c', WRITES] });
    const neighbourPid = writer.initPid;
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    // Of those that are started, the first whose start does not come back at once: what the disk is at in that moment decides.
    const created: PodContainer[] = [];
    for (let n = 1; n <= TRIES; n += 1) created.push(await pod.createContainer({ name: `app-${n}` }));
    writeFileSync(`/proc/${neighbourPid}/root/dev/shm/go`, '');
    await until('the neighbour to wait for the disk', 20_000, () =>
      [...withDescendants([neighbourPid])]
        .flatMap(threads)
        .some(({ syscall, state }) => state === 'D' && syscall === SYSCALL.fsync),
    );
    const { container, started } = await firstThatHangs(created);
    const own = () => [...withDescendants([pod.shimPid]), containerd.pid].flatMap(threads);
    const thread = await until('the start to wait for the disk', 20_000, () =>
      own().find(({ state }) => state === 'D'),
    );
    return { containerd, disk, pod, container, neighbourPid, thread, started };
  });
}
