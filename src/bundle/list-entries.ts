import type { BundleEntry, EntryState } from './bundle-entry.ts';
import { parseManifest } from './compare-manifest.ts';
import { BundleReader } from './read.ts';

/** One file of a bundle, as `show` lists it. */
export interface ListedEntry {
  readonly path: string;
  readonly bytes: number;
  readonly state: EntryState;
  /** Of the manifest; null without one. */
  readonly outcome: string | null;
  readonly detail: string | null;
  readonly source: string | null;
}

export interface Listing {
  readonly folder: string | null;
  readonly cut: boolean;
  readonly entries: readonly ListedEntry[];
}

const MANIFEST = 'manifest.json';

/** All that is in a bundle, up to its end or its cut. Throws BundleError. */
export async function listEntries(source: AsyncIterable<Uint8Array>): Promise<Listing> {
  const reader = new BundleReader(source);
  const met: { path: string; bytes: number; state: EntryState }[] = [];
  let folder: string | null = null;
  let manifest: ReturnType<typeof parseManifest> = null;
  for await (const entry of reader.entries()) {
    folder = entry.folder;
    if (entry.path === MANIFEST) manifest = parseManifest((await entry.read()).toString());
    const { state } = await entry.finish();
    met.push({ path: entry.path, bytes: entry.size, state });
  }
  const items = new Map((manifest?.items ?? []).map(item => [item.path, item]));
  const entries = met.map((entry): ListedEntry => {
    const item = items.get(entry.path);
    return { ...entry, outcome: item?.outcome ?? null, detail: item?.detail ?? null, source: item?.source ?? null };
  });
  return { folder, cut: reader.end === 'cut' || reader.end === 'corrupt', entries };
}

/** What `read` makes of the entry of this path, which it has to read at once; null when it is not there. */
export async function withEntry<T>(
  source: AsyncIterable<Uint8Array>,
  path: string,
  read: (entry: BundleEntry) => Promise<T>,
): Promise<T | null> {
  for await (const entry of new BundleReader(source).entries()) {
    if (entry.path === path) return read(entry);
  }
  return null;
}
