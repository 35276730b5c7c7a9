import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packEntry } from '../../src/bundle/pack-entry.ts';
import { PackedStream } from '../../src/bundle/packed-stream.ts';
import { diagnose } from '../../src/diagnosis/diagnose.ts';
import { factsFromEntries } from '../../src/diagnosis/read-facts.ts';
import type { Judged } from '../../src/report/read-report.ts';
import { reportOf } from '../../src/report/report.ts';
import { MemoryOutput } from '../bundle/made/memory-output.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures/bundles');

/** Path in the bundle to text. */
export type Entries = ReadonlyMap<string, string>;

/** Captures of real stalls, trimmed: test/fixtures/README.md. */
export const FIXTURE_KINDS = readdirSync(FIXTURES);

export function fixtureEntries(kind: string): Entries {
  const folder = join(FIXTURES, kind);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

/** Packed and sealed as a grab does it. */
export async function packed(entries: Entries, folder = 'stallcap-node-1-web-0-20261129T114230Z'): Promise<Buffer> {
  const output = new MemoryOutput();
  const stream = new PackedStream(output);
  const rank = (path: string) => (path === 'plan.json' ? 0 : path === 'manifest.json' ? 2 : 1);
  for (const [path, text] of [...entries].toSorted(([a], [b]) => rank(a) - rank(b))) {
    stream.append(await packEntry({ folder, path, modified: new Date(0) }, Buffer.from(text)));
  }
  await stream.finish();
  return output.file;
}

export async function* chunksOf(file: Buffer): AsyncGenerator<Buffer> {
  yield file;
}

/** Read and judged, from memory. */
export function judgedFrom(entries: Entries, ending = { cut: false }): Judged {
  const facts = factsFromEntries(new Map([...entries].map(([path, text]) => [path, Buffer.from(text)])), ending);
  const report = reportOf(facts, diagnose(facts));
  const file = packed(entries);
  return {
    facts,
    report,
    attached: [],
    async *again() {
      yield await file;
    },
  };
}

export const judgedFixture = (kind: string) => judgedFrom(fixtureEntries(kind));
