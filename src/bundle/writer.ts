import type { Output, Sealed } from '../host/output.ts';
import type { Moment, Outcome } from '../host/port.ts';
import { isLog } from './budget.ts';
import { entryPathProblem, folderProblem } from './entry-path.ts';
import type { Evidence } from './evidence.ts';
import { freeMemory } from './free-memory.ts';
import { itemOf, notGotOf, type Origin, timesOf } from './item-of.ts';
import { BUNDLE_LIMITS } from './limits.ts';
import type { Item, Manifest, NotGot } from './manifest.ts';
import { type EntryName, packEntry, packToFit } from './pack-entry.ts';
import { PackedStream } from './packed-stream.ts';
import type { Plan } from './plan.ts';
import { mapStrings, type Transform } from './transform.ts';

export interface BundleWriterOptions {
  /** Name of the bundle and of the one folder in it: one part of a path, printable ASCII. */
  readonly folder: string;
  readonly output: Output;
  /** `--max-size`: compressed bytes. */
  readonly maxBytes: number;
  /** Start of the process, ISO: offset 0. */
  readonly startedAt: string;
  readonly now: () => Moment;
  /** Becomes plan.json, the first entry. */
  readonly plan: Plan;
  readonly transform: Transform;
  /** Told of every entry, in order, as it stands in the bundle: whoever judges a capture sees what a later reader will see. */
  readonly written?: (path: string, body: Buffer) => void;
}

/** What has gone in so far. */
export interface BundleContent {
  readonly items: readonly Item[];
  readonly notGot: readonly NotGot[];
  readonly packedBytes: number;
  readonly unpackedBytes: number;
}

export interface Closing {
  /** SUMMARY.md, Markdown. */
  readonly summary: (content: BundleContent) => string;
  readonly manifest: (content: BundleContent) => Manifest;
  /** For the output to confirm the last byte. */
  readonly deadlineMs: number;
  /** An interrupted run: what was handed over but not yet begun is listed as not got. */
  readonly hurry?: boolean;
}

export interface Closed {
  readonly manifest: Manifest;
  readonly sealed: Sealed;
}

export function createBundleWriter(options: BundleWriterOptions): BundleWriter {
  return new BundleWriter(options);
}

/**
 * Writes a bundle, entry by entry, in the order in which they are handed over. Never waits for the sink: the output
 * keeps the compressed bytes until they are confirmed.
 */
export class BundleWriter {
  readonly #options: BundleWriterOptions;
  readonly #stream: PackedStream;
  readonly #paths = new Set(['plan.json', 'SUMMARY.md', 'manifest.json']);
  readonly #items: Item[] = [];
  readonly #notGot: NotGot[] = [];
  #last: Promise<unknown>;
  #state: 'open' | 'closing' | 'hurrying' = 'open';

  /** Throws a RangeError on a folder name that no bundle may have. */
  constructor(options: BundleWriterOptions) {
    const problem = folderProblem(options.folder);
    if (problem !== null) throw new RangeError(`bundle folder: ${problem}`);
    this.#options = options;
    this.#stream = new PackedStream(options.output);
    this.#last = this.#addOwn('plan.json', 'plan', 'what will be tried', this.#json(options.plan));
  }

  /**
   * Appends one file. Resolves when its bytes were handed to the output, to the item that the manifest lists; or to why
   * it is not in the bundle: nothing was got, no room, a path that may not be, a second entry of the same path, too late.
   * Never rejects.
   */
  add(evidence: Evidence, origin: Origin): Promise<Item | NotGot> {
    if (this.#state !== 'open') {
      return Promise.resolve(notGotOf(evidence, origin, 'timeout', 'came after the bundle was closed'));
    }
    const added = this.#last.then(() => this.#add(evidence, origin));
    this.#last = added.catch(() => undefined);
    return added;
  }

  /** Lists something that was tried, or left out, and has no file. */
  miss(notGot: NotGot): void {
    this.#notGot.push(notGot);
  }

  /** Writes SUMMARY.md, manifest.json, the end of the tar and the seal. Rejects when the output could not keep it. */
  async close(closing: Closing): Promise<Closed> {
    if (this.#state !== 'open') throw new Error('the bundle is closed already');
    this.#state = closing.hurry === true ? 'hurrying' : 'closing';
    await this.#last;
    const summary = this.#options.transform.text(closing.summary(this.content));
    await this.#addOwn('SUMMARY.md', 'seal', 'what was seen', Buffer.from(summary));
    const manifest = mapStrings(closing.manifest(this.content), this.#options.transform.text);
    this.#stream.append(await packEntry(this.#name('manifest.json'), json(manifest)));
    await this.#stream.finish();
    return { manifest, sealed: await this.#options.output.seal(closing.deadlineMs) };
  }

  get content(): BundleContent {
    const { packedBytes, unpackedBytes } = this.#stream;
    return { items: [...this.#items], notGot: [...this.#notGot], packedBytes, unpackedBytes };
  }

  async #add(evidence: Evidence, origin: Origin): Promise<Item | NotGot> {
    const refusal = this.#refusal(evidence);
    if (refusal !== null) return this.#leaveOut(evidence, origin, refusal.outcome, refusal.detail);
    const { path } = evidence;
    this.#paths.add(path);
    try {
      const { maxBytes, transform } = this.#options;
      const transformed = await transform.body(evidence.body);
      // Whoever brings a log hands it over; of other evidence its collector may have more to say.
      if (isLog(path) && transformed.body !== evidence.body) freeMemory(evidence.body);
      const { packedBytes, unpackedBytes } = this.#stream;
      const spent = { packedBytes, unpackedBytes, items: this.#items.length };
      const name = this.#name(path, timesOf(evidence, origin).offsetMs);
      const entry = await packToFit(name, transformed.body, maxBytes, spent);
      if (entry === null) {
        return this.#leaveOut(
          evidence,
          origin,
          'truncated',
          `left out: the ${maxBytes} bytes that the bundle may take are reached`,
        );
      }
      this.#stream.append(entry);
      this.#options.written?.(path, entry.body);
      const item = itemOf(evidence, origin, transformed, entry);
      this.#items.push(item);
      if (isLog(path)) freeMemory(transformed.body);
      return item;
    } catch (error) {
      // Never the body as it was: what could not be redacted stays out.
      return this.#leaveOut(evidence, origin, 'error', `not written: ${String(error)}`);
    }
  }

  #refusal({ path, outcome, body, detail }: Evidence): { readonly outcome: Outcome; readonly detail?: string } | null {
    if (body.length === 0 && outcome !== 'ok' && outcome !== 'empty') {
      return { outcome, ...(detail === undefined ? {} : { detail }) };
    }
    if (this.#state === 'hurrying') return { outcome: 'timeout', detail: 'not written: the run was over' };
    const problem = entryPathProblem(path);
    if (problem !== null) return { outcome: 'error', detail: `not written: ${problem}` };
    if (this.#paths.has(path)) return { outcome: 'error', detail: 'not written: a second entry of the same path' };
    if (this.#items.length > BUNDLE_LIMITS.entries - 3) return { outcome: 'truncated', detail: 'too many entries' };
    return null;
  }

  #leaveOut(evidence: Evidence, origin: Origin, outcome: Outcome, detail?: string): NotGot {
    const notGot = notGotOf(evidence, origin, outcome, detail);
    this.#notGot.push(notGot);
    return notGot;
  }

  /** An entry of stallcap's own: no limit applies, there is a reserve for it. */
  async #addOwn(path: string, phase: string, source: string, body: Buffer): Promise<void> {
    const { offsetMs } = this.#options.now();
    const entry = await packEntry(this.#name(path, offsetMs), body);
    this.#stream.append(entry);
    this.#options.written?.(path, body);
    const { sha256 } = entry;
    const times = { offsetMs, durationMs: 0 };
    this.#items.push({
      ...{ path, collector: 'stallcap', phase, source, ...times },
      ...{ outcome: 'ok', bytes: body.length, sha256, redactions: 0 },
    });
  }

  #name(path: string, offsetMs = this.#options.now().offsetMs): EntryName {
    const { folder, startedAt } = this.#options;
    return { folder, path, modified: new Date(Date.parse(startedAt) + offsetMs) };
  }

  #json(value: unknown): Buffer {
    return json(mapStrings(value, this.#options.transform.text));
  }
}

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}
