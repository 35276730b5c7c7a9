/**
 * What this process and its children say to each other over a pipe: a frame is two 32-bit little-endian lengths, of
 * header and body, then the header (JSON) and the body (bytes).
 */
export interface Frame<Header> {
  readonly header: Header;
  readonly body: Buffer;
}

export const PREFIX_BYTES = 8;

/** Prefix and header in one buffer; the body follows it unchanged. */
export function encodeHeader(header: object, bodyBytes: number): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix.writeUInt32LE(json.length, 0);
  prefix.writeUInt32LE(bodyBytes, 4);
  return Buffer.concat([prefix, json]);
}

/** Bytes of header and body that a prefix announces. */
export function lengthsIn(prefix: Buffer): { readonly header: number; readonly body: number } {
  return { header: prefix.readUInt32LE(0), body: prefix.readUInt32LE(4) };
}

/** Turns chunks, however they are cut, into frames. */
export class FrameReader<Header> {
  #chunks: Buffer[] = [];
  #bytes = 0;
  #wanted = PREFIX_BYTES;

  push(chunk: Buffer): readonly Frame<Header>[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: Frame<Header>[] = [];
    // Chunks are joined only when a whole frame is there: a body of megabytes is copied once.
    while (this.#bytes >= this.#wanted) {
      const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      const { header, body } = lengthsIn(all);
      const end = PREFIX_BYTES + header + body;
      this.#chunks = [all];
      this.#wanted = end;
      if (all.length < end) break;
      frames.push({
        header: JSON.parse(all.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + header)) as Header,
        body: all.subarray(PREFIX_BYTES + header, end),
      });
      this.#chunks = [all.subarray(end)];
      this.#bytes = all.length - end;
      this.#wanted = PREFIX_BYTES;
    }
    return frames;
  }
}
