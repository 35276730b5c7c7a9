import type { EntryState } from './bundle-entry.ts';
import type { Manifest } from './manifest.ts';
import type { Problem } from './verify-result.ts';

/** An entry as it was met. */
export interface Met {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly state: EntryState;
}

/** The part of a manifest that says what the bundle holds; null when the text is none. */
export function parseManifest(text: string): Pick<Manifest, 'items' | 'capture'> | null {
  try {
    const value = JSON.parse(text) as Partial<Manifest>;
    const items = value.items;
    const right =
      value.format === 1 &&
      typeof value.capture?.outcome === 'string' &&
      Array.isArray(items) &&
      items.every(item => typeof item?.path === 'string' && typeof item.sha256 === 'string');
    return right ? (value as Manifest) : null;
  } catch {
    return null;
  }
}

/** Where the entries of a bundle are not what its manifest says, and what is missing. `met` is without the manifest. */
export function compareWithManifest(
  met: readonly Met[],
  items: Manifest['items'],
): { readonly problems: readonly Problem[]; readonly missing: readonly string[] } {
  const byPath = new Map(met.map(entry => [entry.path, entry]));
  const listed = new Set(items.map(({ path }) => path));
  const missing = items.map(({ path }) => path).filter(path => !byPath.has(path));
  const problems: Problem[] = [];
  if (missing.length > 0) {
    problems.push({ code: 'missing', path: null, says: `${missing.length} entries of the manifest are missing` });
  }
  for (const { path, sha256, bytes } of items) {
    const entry = byPath.get(path);
    if (entry === undefined || entry.state === 'altered' || entry.state === 'cut') continue;
    if (entry.sha256 !== sha256 || entry.bytes !== bytes) {
      problems.push({ code: 'altered', path, says: 'is not what the manifest lists' });
    }
  }
  for (const { path } of met) {
    if (!listed.has(path)) problems.push({ code: 'added', path, says: 'is not in the manifest' });
  }
  const inBoth = (paths: readonly string[], others: { has(path: string): boolean }) =>
    paths.filter(path => others.has(path)).join('\n');
  const metPaths = met.map(({ path }) => path);
  const itemPaths = items.map(({ path }) => path);
  if (inBoth(metPaths, listed) !== inBoth(itemPaths, byPath)) {
    problems.push({ code: 'out-of-order', path: null, says: 'the entries are not in the order of the manifest' });
  }
  return { problems, missing };
}
