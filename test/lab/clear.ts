import { existsSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { cgroupProcesses, removeCgroups } from './cgroups.ts';
import { type LedgerEntry, readLedger } from './ledger.ts';
import { detachLoops, loopsOf } from './loops.ts';
import { alive, cwd, mounts, pids, startTicks, status, withDescendants } from './proc.ts';
import { endAll, signal } from './processes.ts';
import { bounded } from './run.ts';
import { outsidePaths } from './traces.ts';

/**
 * Undoes everything that belongs to a folder of the lab, in the order in which it can be undone: thaw, let
 * stopped daemons go on, end the processes (a daemon that dies frees those who wait for it), unmount, detach the
 * loop devices, remove the traces outside, and the folder last. Every step has a deadline and may be repeated.
 * @returns the paths outside of the folder that belonged to it
 * @throws Error naming what could not be undone
 */
export async function clearFolder(path: string): Promise<string[]> {
  if (!existsSync(path)) return [];
  const ledger = readLedger(path);
  const outside = [
    ...outsidePaths(ledger.flatMap(entry => (entry.kind === 'state' ? [entry.dir] : []))),
    ...ledger.flatMap(entry => (entry.kind === 'path' ? [entry.path] : [])),
  ];

  await thaw(path);
  for (const entry of ledger) {
    if (entry.kind === 'stopped' && startTicks(entry.pid) === entry.startTicks) signal(entry.pid, 'SIGCONT');
  }
  const left = await endAll(() => processesOf(path, ledger), 15_000);
  await unmountBelow(path);
  await detachLoops(basename(path));
  for (const trace of outside) rmSync(trace, { recursive: true, force: true });
  await removeCgroups(basename(path));
  const mounted = below(path);
  // Through a mount that is left, removing would reach what is mounted there, and might hang.
  if (mounted.length === 0) await bounded('rm', ['-rf', '--one-file-system', path], 30_000);

  const remains = [
    ...left.map(pid => `process ${pid} ${status(pid)?.comm} ${status(pid)?.state}`),
    ...mounted.map(point => `mount ${point}`),
    ...loopsOf(basename(path)).map(device => `loop device ${device}`),
  ];
  if (remains.length > 0) throw new Error(`the lab could not end: ${remains.join(', ')}`);
  return outside;
}

/** Processes noted in the ledger, the shims whose bundle lies in the folder, those of its cgroup, and all their children. */
export function processesOf(path: string, ledger: readonly LedgerEntry[]): number[] {
  const noted = ledger.flatMap(entry =>
    entry.kind === 'process' && startTicks(entry.pid) === entry.startTicks ? [entry.pid] : [],
  );
  const shims = pids().filter(pid => status(pid)?.comm === 'containerd-shim' && cwd(pid)?.startsWith(`${path}/`));
  const contained = cgroupProcesses(basename(path));
  return [...withDescendants([...noted, ...shims, ...contained])].filter(pid => pid !== process.pid && alive(pid));
}

const below = (path: string): string[] =>
  mounts()
    .map(mount => mount.point)
    .filter(point => point.startsWith(`${path}/`));

/** A frozen filesystem holds every writer and every umount; on one that is not frozen this fails, and that is fine. */
async function thaw(path: string): Promise<void> {
  for (const mount of mounts()) {
    if (mount.point.startsWith(`${path}/`) && mount.source.startsWith('/dev/loop')) {
      await bounded('fsfreeze', ['-u', mount.point], 2000);
    }
  }
}

/** Lazily: what still uses a mount keeps it, but nobody finds it any more. */
async function unmountBelow(path: string): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const points = below(path).reverse();
    if (points.length === 0) return;
    await bounded('umount', ['-l', ...points], 10_000);
  }
}
