import path from 'node:path';
import type { Place } from '../host/output.ts';
import { bundleBytes, IN_MEMORY, isOnDisk, type MemoryRoom } from './memory-room.ts';

/** `-o`: not given, `-`, or a path. */
export type OutputChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'stdout' }
  | { readonly kind: 'path'; readonly path: string };

/** What is known about the current directory when the bundle must go somewhere. */
export interface CurrentDirectory {
  readonly path: string;
  /**
   * `apart`: on no disk of the container runtime · `shared`: on the disk under its root · `silent`: it did not say in
   * time, so it may be the stalled one itself · `gone`: it was removed.
   */
  readonly standing: 'apart' | 'shared' | 'silent' | 'gone';
}

/** In memory as a rule, so neither can stall with a disk. /run/stallcap is made when it is needed, 0700. */
const MEMORY_DIRECTORIES = ['/run/stallcap', '/dev/shm'] as const;

/**
 * Where the bundle may go, best first. What the user named comes first even on the stalled disk: the writer gives up on
 * a place that does not answer, or refuses, and takes the next. Of those in memory the one that a larger bundle fits into is
 * better, and one that lies on a disk of this node is the last.
 *
 * @param name file name for places that the user gave no name for
 * @param maxBytes what the bundle may become at most
 */
export function placesFor(
  choice: OutputChoice,
  name: string,
  current: CurrentDirectory,
  room: MemoryRoom,
  maxBytes: number,
): readonly Place[] {
  const fallback = MEMORY_DIRECTORIES.map((dir): Place => ({ kind: 'file', dir, name, why: IN_MEMORY })).toSorted(
    (a, b) =>
      Number(isOnDisk(a, room)) - Number(isOnDisk(b, room)) ||
      bundleBytes(b, room, maxBytes) - bundleBytes(a, room, maxBytes),
  );
  switch (choice.kind) {
    case 'stdout':
      return [{ kind: 'stdout', why: 'asked for' }, ...fallback];
    case 'path':
      return [namedPlace(choice.path, name, current.path), ...fallback];
    case 'default':
      if (current.standing !== 'apart') return fallback;
      return [{ kind: 'file', dir: current.path, name, why: 'the current directory' }, ...fallback];
  }
}

/** A path that ends in `/`, `.` or `..` is a directory; all else names the file. */
function namedPlace(given: string, name: string, cwd: string): Place {
  const full = path.resolve(cwd, given);
  const isDirectory = given.endsWith('/') || /(?:^|\/)\.{1,2}$/.test(given);
  return isDirectory
    ? { kind: 'file', dir: full, name, why: 'asked for' }
    : { kind: 'file', dir: path.dirname(full), name: path.basename(full), why: 'asked for' };
}

/** Why it went elsewhere than to the current directory, for stderr; null when it did not. */
export function whyElsewhere(
  choice: OutputChoice,
  current: CurrentDirectory,
  first: Place | undefined,
  room: MemoryRoom,
): string | null {
  if (choice.kind !== 'default' || current.standing === 'apart') return null;
  const [where, what] =
    first === undefined || first.kind === 'stdout'
      ? ['memory', '']
      : [first.dir, isOnDisk(first, room) ? ', a disk as well' : ', in memory'];
  return `${WHY[current.standing](current.path)}, so the bundle goes to ${where}${what} (-o PATH overrides)`;
}

const WHY = {
  shared: (directory: string) => `${directory} lies on the disk of the container runtime`,
  silent: (directory: string) => `${directory} did not answer in time`,
  gone: () => 'The current directory was removed',
} as const;
