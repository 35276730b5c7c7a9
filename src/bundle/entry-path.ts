/** What a file in a bundle may be called, and what the folder around all of them is called. */

/** ustar keeps a name of 100 bytes and a prefix of 155; the folder's share of the prefix is 100 at most. */
const MAX_PATH = 150;
const MAX_PART = 100;
const MAX_FOLDER = 100;

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
  if (folder.length > MAX_FOLDER) return `folder name longer than ${MAX_FOLDER} characters`;
  return entryPathProblem(folder);
}

/** One part of a path out of any text (a container's name, a mount point): letters, digits and `._-` stay, the rest becomes `_`. */
export function pathPart(text: string, maxLength = 80): string {
  const plain = text.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, maxLength);
  return plain === '' || /^\.+$/.test(plain) ? '_' : plain;
}

/**
 * Name of a bundle and of the folder in it, without `.tar.gz`: `stallcap-<host>-<pod or first 12 of the id>-<UTC stamp>`.
 * A second grab within the same second gets the same name: the output refuses to overwrite.
 */
export function bundleName(of: { readonly host: string; readonly who: string; readonly startedAt: string }): string {
  const host = pathPart(of.host.split('.')[0] ?? '', 28);
  const stamp = of.startedAt.replace(/\.\d+Z$/, 'Z').replace(/[-:]/g, '');
  return `stallcap-${host}-${pathPart(of.who, 40)}-${stamp}`;
}
