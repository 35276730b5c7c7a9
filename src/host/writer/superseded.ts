import { lstatSync, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { FileIdentity, Superseded } from './protocol.ts';

/** Name of a bundle until it is sealed. */
export const PARTIAL = '.partial';

/**
 * Takes away what a writer has left in a place that was given up: its `.partial`, and the finished bundle if it got so far
 * after all. Only that very file, by device and inode; what else has taken one of the names stays. May hang; never throws.
 */
export function removeSuperseded({ dir, name, file }: Superseded): void {
  const final = join(resolve(dir), name);
  for (const path of [final, final + PARTIAL]) {
    try {
      if (isSame(path, file)) unlinkSync(path);
    } catch {
      // Not there, or not to be removed: read-only by now, another filesystem.
    }
  }
}

function isSame(path: string, { device, inode }: FileIdentity): boolean {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat !== undefined && stat.dev.toString() === device && stat.ino.toString() === inode;
}
