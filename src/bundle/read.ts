import { BundleEntry } from './bundle-entry.ts';
import { BundleError } from './bundle-error.ts';
import { ByteCursor } from './byte-cursor.ts';
import { entryPathProblem, folderProblem } from './entry-path.ts';
import { BundleGunzip, type StreamEnd } from './gunzip.ts';
import { BUNDLE_LIMITS, type BundleLimits } from './limits.ts';
import { BLOCK, parseExtended, parseTarHeader, type TarHeader } from './tar-header.ts';

/** How a bundle ended: as its stream did, or `cut` also when the tar in it has no end. */
export type BundleEnd = StreamEnd;

/**
 * Reads a bundle from its first byte to its last, in bounded memory, as far as it goes: a stream that was cut anywhere
 * delivers all that came before the cut. Refuses what no bundle has (see BundleError).
 */
export class BundleReader {
  readonly #gunzip: BundleGunzip;
  readonly #cursor: ByteCursor;
  readonly #limits: BundleLimits;
  readonly #paths = new Set<string>();
  #folder: string | null = null;
  #end: BundleEnd | null = null;

  constructor(source: AsyncIterable<Uint8Array>, limits: BundleLimits = BUNDLE_LIMITS) {
    this.#gunzip = new BundleGunzip(source, limits);
    this.#cursor = new ByteCursor(this.#gunzip.chunks());
    this.#limits = limits;
  }

  /** Bytes of the file that were read so far. */
  get packedBytes(): number {
    return this.#gunzip.packedBytes;
  }

  /** null until the last entry was asked for. */
  get end(): BundleEnd | null {
    return this.#end;
  }

  /** The files in their order; each is to be read before the next is asked for, what is left of it is skipped. */
  async *entries(): AsyncGenerator<BundleEntry> {
    let extended: ReadonlyMap<string, string> = new Map();
    for (;;) {
      const block = await this.#cursor.exactly(BLOCK);
      if (block === null) return this.#ended('cut');
      const header = parseTarHeader(block);
      if (header === null) return await this.#readToEnd();
      if (header.kind === 'file') {
        const entry = this.#open(header, extended);
        yield entry;
        await entry.finish();
        await this.#skip(padding(entry.size));
        extended = new Map();
      } else if (header.kind === 'directory') {
        this.#place(extended.get('path') ?? header.name);
        await this.#skip(header.size + padding(header.size));
        extended = new Map();
      } else {
        const body = await this.#extendedBody(header);
        if (body === null) return this.#ended('cut');
        if (header.kind === 'extended') extended = new Map([...extended, ...parseExtended(body)]);
        if (header.kind === 'long-name') extended = new Map([['path', body.toString('latin1').replace(/\0.*$/s, '')]]);
      }
    }
  }

  #open(header: TarHeader, extended: ReadonlyMap<string, string>): BundleEntry {
    const { folder, path } = this.#place(extended.get('path') ?? header.name);
    if (path === '') throw new BundleError('outside-folder', 'a file where the folder should be', folder);
    if (this.#paths.has(path)) throw new BundleError('duplicate', 'stands in the bundle twice', path);
    if (this.#paths.size >= this.#limits.entries) {
      throw new BundleError('bomb', `has more than ${this.#limits.entries} entries`);
    }
    this.#paths.add(path);
    const size = Number(extended.get('size') ?? header.size);
    if (!Number.isSafeInteger(size) || size < 0) throw new BundleError('damaged-tar', 'a size that is none', path);
    const comment = extended.get('comment') ?? '';
    const sha256 = /^[0-9a-f]{64}$/.test(comment) ? comment : null;
    return new BundleEntry({ folder, path }, { size, modified: header.modified, sha256 }, this.#cursor);
  }

  /** Folder and path of a name; throws on one that leaves the folder. */
  #place(name: string): { readonly folder: string; readonly path: string } {
    const plain = name.replace(/^\.\//, '').replace(/\/$/, '');
    const slash = plain.indexOf('/');
    const folder = slash === -1 ? plain : plain.slice(0, slash);
    const path = slash === -1 ? '' : plain.slice(slash + 1);
    if (name.startsWith('/')) throw new BundleError('bad-path', 'absolute path', name);
    const problem = folderProblem(folder) ?? (slash === -1 ? null : entryPathProblem(path));
    if (problem !== null) throw new BundleError('bad-path', problem, name);
    this.#folder ??= folder;
    if (folder !== this.#folder) throw new BundleError('outside-folder', `is not under ${this.#folder}/`, name);
    return { folder, path };
  }

  async #extendedBody({ size }: TarHeader): Promise<Buffer | null> {
    if (size > this.#limits.extendedHeaderBytes) throw new BundleError('bomb', 'an extended header of absurd size');
    const body = await this.#cursor.exactly(size);
    if (body === null) return null;
    await this.#skip(padding(size));
    return body;
  }

  /** Behind the first block of zeros: nothing but zeros may follow. */
  async #readToEnd(): Promise<void> {
    let zeros = BLOCK;
    for (let chunk = await this.#cursor.some(BLOCK); chunk !== null; chunk = await this.#cursor.some(BLOCK)) {
      if (chunk.some(byte => byte !== 0)) throw new BundleError('damaged-tar', 'data behind the end of the tar');
      zeros += chunk.length;
    }
    this.#ended(zeros >= 2 * BLOCK ? 'whole' : 'cut');
  }

  async #skip(bytes: number): Promise<void> {
    let left = bytes;
    while (left > 0) {
      const chunk = await this.#cursor.some(left);
      if (chunk === null) return;
      left -= chunk.length;
    }
  }

  #ended(tar: 'whole' | 'cut'): void {
    const stream = this.#gunzip.end ?? 'cut';
    this.#end = tar === 'cut' && stream !== 'corrupt' ? 'cut' : stream;
  }
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}
