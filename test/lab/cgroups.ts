import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mounts } from './proc.ts';

/** The directories of a lab's cgroup, deepest first: one tree per v1 hierarchy, and one on v2. */
function trees(name: string): string[] {
  return mounts()
    .filter(mount => mount.fstype === 'cgroup' || mount.fstype === 'cgroup2')
    .flatMap(mount => tree(join(mount.point, name)));
}

function tree(dir: string): string[] {
  try {
    const children = readdirSync(dir, { withFileTypes: true }).filter(entry => entry.isDirectory());
    return [...children.flatMap(child => tree(join(dir, child.name))), dir];
  } catch {
    return [];
  }
}

/** Every process in a lab's cgroup. */
export function cgroupProcesses(name: string): number[] {
  const found = trees(name).flatMap(dir => {
    try {
      return readFileSync(join(dir, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
    } catch {
      return [];
    }
  });
  return [...new Set(found)];
}

/** Paths of a lab's cgroups that still exist. */
export const cgroupsOf = trees;

/** Removes a lab's cgroups; the kernel lets go of them a moment after their last process. */
export async function removeCgroups(name: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    for (const dir of trees(name)) {
      try {
        rmdirSync(dir);
      } catch {
        // still busy: next round
      }
    }
    if (trees(name).length === 0) return;
    await sleep(20);
  }
}
