/** Reads a stream of chunks by the number of bytes wanted, holding no more than one chunk and what was asked for. */
export class ByteCursor {
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes, 1 to `most` of them; null at the end of the stream. */
  async some(most: number): Promise<Buffer | null> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return null;
      this.#chunk = next.value;
    }
    const bytes = this.#chunk.subarray(0, most);
    this.#chunk = this.#chunk.subarray(bytes.length);
    return bytes;
  }

  /** Exactly `count` bytes; null when the stream ends before. */
  async exactly(count: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > 0) {
      const part = await this.some(missing);
      if (part === null) return null;
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, count);
  }
}
