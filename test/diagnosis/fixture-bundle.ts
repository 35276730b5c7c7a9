import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Facts } from '../../src/diagnosis/facts.ts';
import { factsFromEntries } from '../../src/diagnosis/read-facts.ts';

const BUNDLES = join(import.meta.dirname, '../fixtures/bundles');

/** The entries of an unpacked bundle: path in it -> bytes. */
export function entriesOf(name: string): ReadonlyMap<string, Buffer> {
  const folder = join(BUNDLES, name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return new Map(
    files
      .map(({ parentPath, name: file }) => join(parentPath, file))
      .toSorted()
      .map(path => [path.slice(folder.length + 1), readFileSync(path)]),
  );
}

/** Facts of a real capture in test/fixtures/bundles. */
export function factsOfBundle(name: string): Facts {
  return factsFromEntries(entriesOf(name));
}

/** Names of all of them. */
export function bundleNames(): readonly string[] {
  return readdirSync(BUNDLES).filter(name => !name.includes('.'));
}
