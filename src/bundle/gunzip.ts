import { createHash } from 'node:crypto';
import { createGunzip, type Gunzip } from 'node:zlib';
import { BundleError } from './bundle-error.ts';
import { SEAL_BYTES, sealedSha256 } from './gzip-frame.ts';
import { BUNDLE_LIMITS, type BundleLimits } from './limits.ts';

/**
 * How the compressed stream ended.
 * - `sealed`: right to the last byte: the seal is there, and it is that of the bytes before it
 * - `unsealed`: gzip finds nothing wrong, but there is no seal: packed by another program, or the seal itself is altered
 * - `cut`: it ends before its end
 * - `corrupt`: gzip finds a fault, or the seal is that of other bytes
 */
export type StreamEnd = 'sealed' | 'unsealed' | 'cut' | 'corrupt';

/** Deflate makes at most 1,032 bytes of one: so many bytes in are at most 8 MiB out, held until they are asked for. */
const SLICE_BYTES = 8 * 1024;

/**
 * Unpacks the gzip stream of a bundle. What comes before a cut is delivered to its last byte; memory stays bounded
 * whatever comes in.
 */
export class BundleGunzip {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #limits: BundleLimits;
  readonly #hash = createHash('sha256');
  readonly #inflate: Inflate = new Inflate();
  #end: StreamEnd | null = null;
  #packedBytes = 0;
  #unpackedBytes = 0;

  constructor(source: AsyncIterable<Uint8Array>, limits: BundleLimits = BUNDLE_LIMITS) {
    this.#source = source;
    this.#limits = limits;
  }

  /** Bytes of the file that were read so far. */
  get packedBytes(): number {
    return this.#packedBytes;
  }

  /** null until chunks() came to its end. */
  get end(): StreamEnd | null {
    return this.#end;
  }

  /** The unpacked bytes. Throws BundleError: not-a-bundle, bomb. An error of the source passes through. */
  async *chunks(): AsyncGenerator<Buffer> {
    // The last bytes are held back: they may be the seal.
    let tail: Buffer = Buffer.alloc(0);
    for await (const chunk of this.#source) {
      this.#packedBytes += chunk.length;
      // Nothing behind a fault or behind the end can make the file right again.
      if (this.#inflate.over) break;
      if (this.#packedBytes > this.#limits.unpackedBytes) throw new BundleError('bomb', 'larger than any bundle');
      const bytes = Buffer.concat([tail, chunk]);
      if (bytes.length < SEAL_BYTES) {
        tail = bytes;
        continue;
      }
      tail = Buffer.from(bytes.subarray(bytes.length - SEAL_BYTES));
      const ready = bytes.subarray(0, bytes.length - SEAL_BYTES);
      this.#hash.update(ready);
      yield* this.#unpack(ready);
    }
    const sealOf = sealedSha256(tail);
    if (sealOf === null) yield* this.#unpack(tail);
    const gzipEnd = await this.#inflate.finish();
    if (gzipEnd === 'whole' && sealOf !== null) {
      this.#end = this.#hash.digest('hex') === sealOf ? 'sealed' : 'corrupt';
    } else if (gzipEnd === 'whole') {
      this.#end = 'unsealed';
    } else {
      this.#end = sealOf === null ? gzipEnd : 'corrupt';
    }
  }

  async *#unpack(packed: Buffer): AsyncGenerator<Buffer> {
    if (!this.#inflate.looksLikeGzip(packed)) throw new BundleError('not-a-bundle', 'this is not a gzip file');
    const slice = (at: number) => {
      if (at >= packed.length || this.#inflate.over) return null;
      return this.#inflate.feed(packed.subarray(at, at + SLICE_BYTES));
    };
    let next = slice(0);
    for (let at = SLICE_BYTES; next !== null; at += SLICE_BYTES) {
      const chunks = await next;
      // zlib unpacks in a thread of its own: the next slice while this one is read.
      next = slice(at);
      for (const chunk of chunks) {
        this.#unpackedBytes += chunk.length;
        this.#refuseBomb();
        yield chunk;
      }
    }
  }

  #refuseBomb(): void {
    const { unpackedBytes, ratio, ratioFromBytes } = this.#limits;
    const bytes = this.#unpackedBytes;
    if (bytes > unpackedBytes) throw new BundleError('bomb', `unpacks to more than ${unpackedBytes} bytes`);
    if (bytes > ratioFromBytes && bytes > this.#packedBytes * ratio) {
      throw new BundleError('bomb', `unpacks to more than ${ratio} times its size`);
    }
  }
}

/** zlib's gunzip, one slice at a time: output is taken as it comes, so that an error later on does not lose it. */
class Inflate {
  readonly #gunzip: Gunzip = createGunzip({ chunkSize: 64 * 1024 });
  #out: Buffer[] = [];
  #fed = 0;
  #fault: 'cut' | 'corrupt' | null = null;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor() {
    this.#gunzip.on('data', (chunk: Buffer) => this.#out.push(chunk));
    this.#gunzip.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
    this.#gunzip.on('error', (error: NodeJS.ErrnoException) => {
      this.#fault = error.code === 'Z_BUF_ERROR' ? 'cut' : 'corrupt';
      this.#wake();
    });
  }

  /** A fault was found, or the end of the last member with something else behind it. */
  get over(): boolean {
    return this.#fault !== null || this.#ended;
  }

  looksLikeGzip(first: Buffer): boolean {
    return this.#fed > 0 || first.length === 0 || (first[0] === 0x1f && (first.length === 1 || first[1] === 0x8b));
  }

  async feed(slice: Buffer): Promise<readonly Buffer[]> {
    this.#fed += slice.length;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
      this.#gunzip.write(slice, () => resolve());
    });
    const out = this.#out;
    this.#out = [];
    return out;
  }

  async finish(): Promise<'whole' | 'cut' | 'corrupt'> {
    if (!this.#ended && this.#fault === null) {
      await new Promise<void>(resolve => {
        this.#wake = resolve;
        this.#gunzip.end();
      });
    }
    this.#gunzip.destroy();
    if (this.#fault !== null) return this.#fault;
    return this.#gunzip.bytesWritten === this.#fed && this.#fed > 0 ? 'whole' : 'corrupt';
  }
}
