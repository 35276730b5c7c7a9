import { existsSync } from 'node:fs';
import { cgroupsOf } from './cgroups.ts';
import { processesOf } from './clear.ts';
import type { LabFolder } from './folder.ts';
import { loopsOf } from './loops.ts';
import { mounts, status } from './proc.ts';

/** What is still there of a folder of the lab, one line each; after its disposal it must be nothing. */
export function leftovers(folder: Pick<LabFolder, 'path' | 'name' | 'ledger'>): string[] {
  const traces = folder.ledger.flatMap(entry => (entry.kind === 'path' ? [entry.path] : []));
  return [
    ...processesOf(folder.path, folder.ledger).map(pid => `process ${pid} ${status(pid)?.comm} ${status(pid)?.state}`),
    ...mounts()
      .filter(mount => mount.point.includes(folder.name) || mount.source.includes(folder.name))
      .map(mount => `mount ${mount.point}`),
    ...loopsOf(folder.name).map(device => `loop device ${device}`),
    ...cgroupsOf(folder.name).map(dir => `cgroup ${dir}`),
    ...[folder.path, ...traces].filter(path => existsSync(path)).map(path => `file ${path}`),
  ];
}
