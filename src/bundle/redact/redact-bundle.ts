import { type JsonObject, parseObject } from '../../formats/runtime/json.ts';
import type { Output } from '../../host/output.ts';
import type { BundleEntry } from '../bundle-entry.ts';
import { BundleError } from '../bundle-error.ts';
import type { Item, Manifest } from '../manifest.ts';
import { packEntry } from '../pack-entry.ts';
import { PackedStream } from '../packed-stream.ts';
import { BundleReader } from '../read.ts';
import { mapStrings, type Transformed } from '../transform.ts';
import { type RedactOptions, redaction, redactText } from './redact.ts';

/** What was taken out on the way from one bundle to the other. */
export interface RedactedBundle {
  readonly entries: number;
  /** In this pass alone. */
  readonly redactions: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** Entries in which nothing was looked for, since they are no text. */
  readonly binary: readonly string[];
}

/** What became of an entry, for the manifest. */
interface Rewritten extends Pick<Item, 'bytes' | 'sha256'> {
  readonly done: Omit<Transformed, 'body'>;
}

const MANIFEST = 'manifest.json';
const PLAN = 'plan.json';
const MAX_ENTRY_BYTES = 512 * 1024 * 1024;
/** Of those two, which are held as values: a manifest of 50,000 items. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/**
 * Writes a copy of a bundle without its secrets and without what the user's patterns match, as a bundle that verifies: its manifest
 * has the new hashes, sizes and counts. Entries keep their order, names and times: a name in a path stays.
 *
 * @param output is given the copy piece by piece; it is good only when this resolves
 * @throws BundleError for one that was cut or altered: the copy would look whole
 */
export async function redactBundle(
  source: AsyncIterable<Uint8Array>,
  output: Pick<Output, 'write'>,
  options: RedactOptions,
): Promise<RedactedBundle> {
  const reader = new BundleReader(source);
  const stream = new PackedStream(output);
  const transform = redaction(options);
  const rewritten = new Map<string, Rewritten>();
  let manifest = false;
  for await (const entry of reader.entries()) {
    const { folder, path, modified } = entry;
    const isDocument = path === MANIFEST || path === PLAN;
    const body = await intactBody(entry, isDocument ? MAX_DOCUMENT_BYTES : MAX_ENTRY_BYTES);
    const done = isDocument ? inDocument(body, path, options, rewritten) : await transform.body(body);
    const packed = await packEntry({ folder, path, modified }, done.body);
    stream.append(packed);
    const { redactions, kinds, skipped } = done;
    const counts = { redactions, kinds, ...(skipped === undefined ? {} : { skipped }) };
    if (path === MANIFEST) manifest = true;
    else rewritten.set(path, { bytes: done.body.length, sha256: packed.sha256, done: counts });
  }
  if (!manifest || reader.end === 'cut' || reader.end === 'corrupt') {
    throw new BundleError('not-a-bundle', 'the bundle was cut: only a whole one can be copied');
  }
  await stream.finish();
  return summed(rewritten);
}

async function intactBody(entry: BundleEntry, maxBytes: number): Promise<Buffer> {
  const body = await entry.read(maxBytes);
  const { state } = await entry.finish();
  if (state === 'altered') throw new BundleError('damaged-tar', 'is not what its hash says', entry.path);
  if (state === 'cut') throw new BundleError('not-a-bundle', 'was cut: only a whole bundle can be copied', entry.path);
  return body;
}

/** JSON stays JSON: only the strings in it are looked at. */
function inDocument(
  body: Buffer,
  path: string,
  options: RedactOptions,
  rewritten: ReadonlyMap<string, Rewritten>,
): Transformed {
  const document = parseObject(body.toString());
  if (document === null) throw new BundleError('not-a-bundle', 'is no JSON object', path);
  const items = path === MANIFEST ? document['items'] : undefined;
  const clean = cleaned(document, path, options);
  const fresh = Array.isArray(items)
    ? { ...clean, items: items.map((item, index) => withNewHash(item, clean.items?.[index] ?? item, rewritten)) }
    : clean;
  return { body: Buffer.from(`${JSON.stringify(fresh, null, 2)}\n`), redactions: 0, kinds: {} };
}

function cleaned(document: JsonObject, path: string, options: RedactOptions): Partial<Manifest> {
  try {
    return mapStrings(document, text => redactText(text, options)) as Partial<Manifest>;
  } catch (error) {
    if (error instanceof RangeError) throw new BundleError('not-a-bundle', `is ${error.message}`, path);
    throw error;
  }
}

/** Paths and hashes are not the text of anybody: a pattern that matches one must not break the bundle. */
function withNewHash(item: Item | null, clean: Item, rewritten: ReadonlyMap<string, Rewritten>): Item {
  if (item === null || typeof item !== 'object') return clean;
  const entry = rewritten.get(item.path);
  const kept = { ...clean, path: item.path, sha256: item.sha256, outcome: item.outcome };
  if (entry === undefined) return kept;
  const { bytes, sha256, done } = entry;
  const redacted = added(item.redacted ?? {}, done.kinds);
  return {
    ...kept,
    ...{ bytes, sha256, redactions: item.redactions + done.redactions },
    ...(Object.keys(redacted).length === 0 ? {} : { redacted }),
  };
}

function added(one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>): Record<string, number> {
  const sum: Record<string, number> = { ...one };
  for (const [kind, count] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

function summed(rewritten: ReadonlyMap<string, Rewritten>): RedactedBundle {
  const all = [...rewritten];
  return {
    entries: all.length + 1,
    redactions: all.reduce((sum, [, { done }]) => sum + done.redactions, 0),
    kinds: all.reduce<Record<string, number>>((sum, [, { done }]) => added(sum, done.kinds), {}),
    binary: all.flatMap(([path, { done }]) => (done.skipped === 'binary' ? [path] : [])),
  };
}
