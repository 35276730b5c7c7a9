import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../../../lab/child.ts';
import { status, threads } from '../../../lab/proc.ts';
import { signal } from '../../../lab/processes.ts';
import { type OverlayUmountSync, overlayUmountSync } from '../../../lab/stalls/overlay-umount-sync.ts';
import { until } from '../../../lab/wait.ts';

/** An overlay's umount on a disk that then completes nothing more, and an fsync that waits for its journal. */
export async function diskDead(): Promise<OverlayUmountSync> {
  const stall = await overlayUmountSync();
  const { bindfsPid, point } = stall.disk;
  try {
    const file = join(point, 'synced');
    closeSync(openSync(file, 'w'));
    signal(bindfsPid, 'SIGSTOP');
    await until('the disk to stop', 5000, () => status(bindfsPid)?.state === 'T');
    const { pid } = await startChild(stall.folder, 'dd', [
      'if=/dev/zero',
      `of=${file}`,
      'bs=4k',
      'count=1',
      'conv=fsync',
    ]);
    await until('an fsync to wait for the journal', 10_000, () => threads(pid).some(({ state }) => state === 'D'));
  } catch (error) {
    signal(bindfsPid, 'SIGCONT');
    await stall[Symbol.asyncDispose]();
    throw error;
  }
  const dispose = () => {
    signal(bindfsPid, 'SIGCONT');
    return stall[Symbol.asyncDispose]();
  };
  return { ...stall, [Symbol.asyncDispose]: dispose };
}
