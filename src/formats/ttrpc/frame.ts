/**
 * ttrpc's frame (containerd/ttrpc channel.go, the same from 1.0 to 1.2): ten bytes of header, `length u32BE | stream u32BE |
 * type u8 | flags u8`, then the message.
 */
export interface TtrpcFrame {
  /** Odd for streams that a client opens. */
  readonly stream: number;
  /** 1: request, 2: response, 3: data (1.2). */
  readonly type: number;
  readonly flags: number;
  readonly body: Buffer;
}

export const REQUEST = 1;
export const RESPONSE = 2;
const DATA = 3;

const HEADER_BYTES = 10;

/** Answers to what is asked here have some hundred bytes; ttrpc itself allows 4 MiB. */
const LARGEST_BODY = 64 << 10;

export function encodeFrame({ stream, type, flags, body }: TtrpcFrame): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(body.length, 0);
  header.writeUInt32BE(stream, 4);
  header.writeUInt8(type, 8);
  header.writeUInt8(flags, 9);
  return Buffer.concat([header, body]);
}

/** Turns chunks, however they are cut, into frames. It holds no more than one frame of the largest size. */
export class TtrpcFrameReader {
  #held: Buffer = Buffer.alloc(0);
  /** Why nothing more is read from this stream, in words; null while it is one of ttrpc's. */
  refusal: string | null = null;

  push(chunk: Buffer): readonly TtrpcFrame[] {
    if (this.refusal !== null) return [];
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const frames: TtrpcFrame[] = [];
    while (this.#held.length >= HEADER_BYTES) {
      const length = this.#held.readUInt32BE(0);
      const type = this.#held.readUInt8(8);
      this.refusal = whyNoFrame(length, type);
      if (this.refusal !== null) {
        this.#held = Buffer.alloc(0);
        break;
      }
      const end = HEADER_BYTES + length;
      if (this.#held.length < end) break;
      frames.push({
        stream: this.#held.readUInt32BE(4),
        type,
        flags: this.#held.readUInt8(9),
        body: this.#held.subarray(HEADER_BYTES, end),
      });
      this.#held = this.#held.subarray(end);
    }
    return frames;
  }
}

/** A gRPC server, which some shims are, opens with HTTP/2's SETTINGS; read as a header of ttrpc that has type 0. */
function whyNoFrame(length: number, type: number): string | null {
  if (type < REQUEST || type > DATA) return `sends a message of type ${type}`;
  return length > LARGEST_BODY ? `announces a message of ${length} bytes` : null;
}
