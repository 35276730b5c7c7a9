import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, ROOT } from './paths.ts';

/** What the executable is made from. */
const SOURCES = ['bin', 'commands', 'src', 'scripts/build', 'scripts/build.ts', 'package.json', 'package-lock.json'];

/** Whether dist/stallcap is there and nothing that it is made from is newer. */
export function isCurrent(): boolean {
  const built = modified(`${DIST}/stallcap`);
  return built !== null && SOURCES.every(source => newest(join(ROOT, source)) <= built);
}

function newest(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => newest(join(path, name))));
}

function modified(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
