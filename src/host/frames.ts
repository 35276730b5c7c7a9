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

/** Turns chunks, however they are cut, into frames. Each byte is copied once, to where it stays: a body may be a log of megabytes. */
export class FrameReader<Header> {
  /** What is being filled: a prefix, a header, a body. */
  #part: 'prefix' | 'header' | 'body' = 'prefix';
  #into = Buffer.allocUnsafe(PREFIX_BYTES);
  #filled = 0;
  #bodyBytes = 0;
  #header: Header | null = null;

  push(chunk: Buffer): readonly Frame<Header>[] {
    const frames: Frame<Header>[] = [];
    for (let at = 0; ; ) {
      const taken = chunk.copy(this.#into, this.#filled, at);
      at += taken;
      this.#filled += taken;
      if (this.#filled < this.#into.length) return frames;
      this.#next(frames);
    }
  }

  /** A part is whole. An empty one is whole at once, in the next turn of `push`. */
  #next(frames: Frame<Header>[]): void {
    const whole = this.#into;
    if (this.#part === 'prefix') {
      const { header, body } = lengthsIn(whole);
      this.#bodyBytes = body;
      this.#fill('header', header);
    } else if (this.#part === 'header') {
      this.#header = JSON.parse(whole.toString('utf8')) as Header;
      this.#fill('body', this.#bodyBytes);
    } else {
      frames.push({ header: this.#header as Header, body: whole });
      this.#fill('prefix', PREFIX_BYTES);
    }
  }

  #fill(part: 'prefix' | 'header' | 'body', bytes: number): void {
    this.#part = part;
    this.#into = Buffer.allocUnsafe(bytes);
    this.#filled = 0;
  }
}
