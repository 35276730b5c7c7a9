/** What a file in a bundle may be called, and what the folder around all of them is called. */

const MAX_PATH = 200;
/** Below what any filesystem takes as a name, also with an extension added. */
const MAX_PART = 120;

/** Printable ASCII without backslash: what every tar prints and unpacks as it stands, on every system. */
const PLAIN = /^[\x20-\x5b\x5d-\x7e]+$/;

/**
 * Why `path` may not stand in a bundle; null when it may. Used on what is written and on what is read: the names in a
 * bundle that came from somebody else are hostile.
 */
export function entryPathProblem(path: string): string | null {
  if (path === '') return 'empty path';
  if (path.startsWith('/')) return 'absolute path';
  if (!PLAIN.test(path)) return 'path with a control character, a backslash or a letter outside ASCII';
  if (path.length > MAX_PATH) return `path longer than ${MAX_PATH} characters`;
  for (const part of path.split('/')) {
    if (part === '' || part === '.' || part === '..') return `path with a part '${part}'`;
    if (part.length > MAX_PART) return `path with a part longer than ${MAX_PART} characters`;
  }
  return null;
}

/** Why `folder` may not be the one folder of a bundle; null when it may. */
export function folderProblem(folder: string): string | null {
  if (folder.includes('/')) return 'more than one folder';
  return entryPathProblem(folder);
}
