import { BundleReader } from '../bundle/read.ts';
import { gather, MANIFEST, PLAN } from './facts/gather.ts';
import type { Facts } from './facts.ts';

export { type Gathering, gather } from './facts/gather.ts';

/**
 * The facts of a bundle, read once from its first byte to its last, in bounded memory. One that was cut gives what came before the
 * cut. Throws BundleError for what is none.
 */
export async function readFacts(source: AsyncIterable<Uint8Array>): Promise<Facts> {
  const reader = new BundleReader(source);
  const gathering = gather();
  for await (const entry of reader.entries()) {
    const sink = gathering.open(entry.path);
    if (sink === null) continue;
    for await (const chunk of entry.chunks()) sink.write(chunk);
    sink.end();
  }
  return gathering.facts({ cut: reader.end === 'cut' || reader.end === 'corrupt' });
}

/** The same from entries that are in memory already, in any order: path in the bundle -> bytes. */
export function factsFromEntries(entries: ReadonlyMap<string, Uint8Array>, ending = { cut: false }): Facts {
  const gathering = gather();
  const order = [PLAN, ...[...entries.keys()].filter(path => path !== PLAN && path !== MANIFEST), MANIFEST];
  for (const path of order) {
    const body = entries.get(path);
    const sink = body === undefined ? null : gathering.open(path);
    if (body === undefined || sink === null) continue;
    sink.write(body);
    sink.end();
  }
  return gathering.facts(ending);
}
