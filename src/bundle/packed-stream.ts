import { createHash } from 'node:crypto';
import type { Output } from '../host/output.ts';
import { deflateEntry } from './deflate-entry.ts';
import { GZIP_HEADER, MemberEnd, seal } from './gzip-frame.ts';
import { END_OF_TAR } from './tar-entry.ts';

/** A piece of the tar, as it is and compressed. */
export interface PackedPiece {
  readonly raw: readonly Buffer[];
  readonly packed: readonly Buffer[];
}

/** The compressed tar on its way to the output: hashed and counted, and sealed at the end. */
export class PackedStream {
  readonly #output: Pick<Output, 'write'>;
  readonly #hash = createHash('sha256');
  readonly #end = new MemberEnd();
  #packedBytes = 0;
  #unpackedBytes = 0;

  constructor(output: Pick<Output, 'write'>) {
    this.#output = output;
    this.#emit(GZIP_HEADER);
  }

  get packedBytes(): number {
    return this.#packedBytes;
  }

  get unpackedBytes(): number {
    return this.#unpackedBytes;
  }

  append(piece: PackedPiece): void {
    for (const chunk of piece.raw) {
      this.#end.update(chunk);
      this.#unpackedBytes += chunk.length;
    }
    for (const chunk of piece.packed) this.#emit(chunk);
  }

  /** The end of the tar, of the gzip member, and the seal over all of it. */
  async finish(): Promise<void> {
    const raw = [END_OF_TAR];
    this.append({ raw, packed: await deflateEntry(raw) });
    this.#emit(this.#end.bytes());
    this.#emit(seal(this.#hash.copy().digest('hex')));
  }

  #emit(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#packedBytes += chunk.length;
    this.#output.write(chunk);
  }
}
