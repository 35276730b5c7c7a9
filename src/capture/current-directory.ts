import process from 'node:process';
import { type Disks, mountOf, wholeDisksOf } from '../collectors/disk-chain.ts';
import { readDisks } from '../collectors/read-disks.ts';
import { overlayDirs } from '../formats/proc/mountinfo.ts';
import type { Host } from '../host/port.ts';
import type { CurrentDirectory } from './places.ts';

/** A directory that does not answer within this is as good as stalled. */
const ANSWER_MS = 700;

/** Leads nowhere once the directory was removed, so what is written there goes to the next place. */
const GONE: CurrentDirectory = { path: '/proc/self/cwd', standing: 'gone' };

/** Where this process was started. Null when that directory was removed since: getcwd(2) fails then. */
export function workingDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/**
 * Whether the current directory may take the bundle: not on a disk that carries a root of the container runtime, and
 * answering. A write there would queue behind the stall, and add to it.
 *
 * @param roots containerd's and docker's persistent directories
 */
export async function currentDirectory(
  host: Host,
  cwd: string | null,
  roots: readonly string[],
): Promise<CurrentDirectory> {
  if (cwd === null) return GONE;
  const untilMs = host.now().offsetMs + ANSWER_MS;
  const deadline = () => ({ deadlineMs: Math.max(1, untilMs - host.now().offsetMs) });
  const [answers, disks] = await Promise.all([
    host.readRisky([{ path: cwd, what: 'stat' }], deadline()),
    readDisks(host, deadline),
  ]);
  if (answers[0]?.outcome !== 'ok' || disks === null) return { path: cwd, standing: 'silent' };
  if (isLayerOfContainer(cwd, disks)) return { path: cwd, standing: 'shared' };
  const own = wholeDisksOf(cwd, disks);
  const shared = roots.some(root => [...wholeDisksOf(root, disks)].some(disk => own.has(disk)));
  return { path: cwd, standing: shared ? 'shared' : 'apart' };
}

/**
 * In a container the writable layer lies where the runtime keeps all of them, on a path that is not seen in here: what is
 * mounted at its place is the overlay itself.
 */
function isLayerOfContainer(path: string, { mounts }: Disks): boolean {
  const mount = mountOf(path, mounts);
  const upper = mount === null ? null : (overlayDirs(mount)?.upper ?? null);
  return upper !== null && mountOf(upper, mounts) === mount;
}
