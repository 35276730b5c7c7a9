import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { expect } from 'vitest';
import type { Manifest } from '../../../src/bundle/manifest.ts';
import { parseThreadDump, type ThreadDump } from '../../../src/formats/thread-dump.ts';
import { expectValid } from './schema.ts';

/** A bundle as anybody opens it: gunzip and tar, without stallcap's own reader. */
export interface Bundle {
  /** Entries without the folder's name, in their order. */
  readonly names: readonly string[];
  readonly manifest: Manifest;
  has(path: string): boolean;
  /** @throws Error naming what there is, when there is no such entry */
  text(path: string): string;
  threads(path: string): ThreadDump['threads'];
}

/** Opens a bundle, and expects one folder in it, plan.json first, and a manifest last that is what its schema says. */
export async function openBundle(file: string | Buffer): Promise<Bundle> {
  const entries = new Map<string, string>();
  const archive = extract();
  Readable.from([gunzipSync(typeof file === 'string' ? readFileSync(file) : file)]).pipe(archive);
  for await (const entry of archive) {
    expect(entries.has(entry.header.name)).toBe(false);
    entries.set(entry.header.name, (await buffer(entry)).toString());
  }
  const folders = new Set([...entries.keys()].map(name => name.split('/')[0]));
  expect([...folders]).toHaveLength(1);
  const [folder = ''] = folders;
  const names = [...entries.keys()].map(name => name.slice(folder.length + 1));
  const text = (path: string): string => {
    const found = entries.get(`${folder}/${path}`);
    if (found === undefined) throw new Error(`no ${path} in the bundle: ${names.join(' ')}`);
    return found;
  };
  expect(names[0]).toBe('plan.json');
  expect(names.at(-1)).toBe('manifest.json');
  const manifest = JSON.parse(text('manifest.json')) as Manifest;
  expectValid('manifest', manifest);
  expectValid('plan', JSON.parse(text('plan.json')));
  expect(manifest.items.map(({ path }) => path)).toEqual(names.slice(0, -1));
  return {
    names,
    manifest,
    has: path => names.includes(path),
    text,
    threads: path => parseThreadDump(text(path)).threads,
  };
}
