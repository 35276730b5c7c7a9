import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bindfs, type FuseMount, stopFuse } from '../bindfs.ts';
import { startChild } from '../child.ts';
import { threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { compile } from '../programs/compile.ts';
import { until } from '../wait.ts';
import { type Stall, stalled } from './stall.ts';

export interface MmapLockHeld extends Stall {
  readonly fuse: FuseMount;
  /** Processes whose cmdline and environ (and maps, before Linux 6.17) hang whoever reads them; comm, stat, status and wchan answer. */
  readonly pids: readonly number[];
}

/**
 * Processes whose mmap_lock is held by a page fault that waits for a stopped FUSE daemon. `ps`, `top` and `pgrep -f`
 * hang on the first of them.
 */
export function mmapLockHeld(options: { readonly copies?: number } = {}): Promise<MmapLockHeld> {
  return stalled(async (folder, undo) => {
    const program = await compile(folder, 'mmap-hostage');
    const fuse = await bindfs(folder, 'mapped');
    writeFileSync(join(fuse.backing, 'page'), Buffer.alloc(4096));
    const child = await startChild(folder, program, [join(fuse.point, 'page'), String(options.copies ?? 1)]);
    await child.line(20_000);
    await stopFuse(fuse, undo);
    signal(child.pid, 'SIGUSR1');
    const pids = (await child.line(20_000)).split(' ').slice(1).map(Number);
    // Behind a writer that waits, every new reader waits too: only from then on do they hang.
    await until('a thread of each to wait for its mmap_lock', 10_000, () =>
      pids.every(pid => threads(pid).some(({ state, stack }) => state === 'D' && stack.includes('vm_mmap_pgoff'))),
    );
    return { fuse, pids };
  });
}
