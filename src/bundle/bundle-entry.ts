import { createHash } from 'node:crypto';
import { BundleError } from './bundle-error.ts';
import type { ByteCursor } from './byte-cursor.ts';

/**
 * What became of an entry's body.
 * - `intact`: its SHA-256 is the one that stands beside it
 * - `altered`: it is another
 * - `unhashed`: none stands beside it (packed by another program)
 * - `cut`: the stream ended in it
 */
export type EntryState = 'intact' | 'altered' | 'unhashed' | 'cut';

const DEFAULT_READ_BYTES = 64 * 1024 * 1024;

/** One file of a bundle, while it passes by. */
export class BundleEntry {
  readonly folder: string;
  /** Relative to the folder. */
  readonly path: string;
  readonly size: number;
  readonly modified: Date;
  readonly #expected: string | null;
  readonly #hash = createHash('sha256');
  readonly #cursor: ByteCursor;
  #left: number;
  #done: { readonly state: EntryState; readonly sha256: string } | null = null;

  constructor(name: { readonly folder: string; readonly path: string }, file: EntryFile, cursor: ByteCursor) {
    this.folder = name.folder;
    this.path = name.path;
    this.size = file.size;
    this.modified = file.modified;
    this.#expected = file.sha256;
    this.#cursor = cursor;
    this.#left = file.size;
  }

  /** The body, in pieces, once; it ends early when the stream does. */
  async *chunks(): AsyncGenerator<Buffer> {
    while (this.#left > 0) {
      const chunk = await this.#cursor.some(this.#left);
      if (chunk === null) break;
      this.#left -= chunk.length;
      this.#hash.update(chunk);
      yield chunk;
    }
    this.#done ??= this.#judge();
  }

  /** All of the body, or what came before a cut. Throws BundleError too-large. */
  async read(maxBytes = DEFAULT_READ_BYTES): Promise<Buffer> {
    if (this.size > maxBytes) throw new BundleError('too-large', `has more than ${maxBytes} bytes`, this.path);
    const chunks: Buffer[] = [];
    for await (const chunk of this.chunks()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Lets the rest of the body pass, and says what became of it. */
  async finish(): Promise<{ readonly state: EntryState; readonly sha256: string }> {
    for await (const _ of this.chunks());
    return this.#done ?? this.#judge();
  }

  #judge(): { readonly state: EntryState; readonly sha256: string } {
    const sha256 = this.#hash.digest('hex');
    if (this.#left > 0) return { state: 'cut', sha256 };
    if (this.#expected === null) return { state: 'unhashed', sha256 };
    return { state: this.#expected === sha256 ? 'intact' : 'altered', sha256 };
  }
}

interface EntryFile {
  readonly size: number;
  readonly modified: Date;
  readonly sha256: string | null;
}
