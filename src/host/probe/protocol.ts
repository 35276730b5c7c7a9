import type { CommandRequest, FileRequest } from '../port.ts';

/**
 * What parent and probe say to each other over the probe's stdin and stdout. A frame is two 32-bit little-endian
 * lengths, of header and body, then the header (JSON) and the body (bytes).
 */

/** What a probe can be asked. Items carry their index in the parent's list, so that a fresh probe can take over. */
export type Request =
  | { readonly op: 'files'; readonly items: readonly Indexed<FileRequest>[] }
  | { readonly op: 'look'; readonly items: readonly Indexed<number>[] }
  | { readonly op: 'sweep'; readonly items: readonly Indexed<SweepItem>[]; readonly tree: readonly number[] }
  | { readonly op: 'run'; readonly command: Omit<CommandRequest, 'signal'> }
  | { readonly op: 'kmsg'; readonly maxBytes: number }
  | { readonly op: 'drain'; readonly pid: number; readonly fd: number }
  /** Only while a drain runs. `notBeforeMs`: wall clock, ms since 1970. */
  | { readonly op: 'finish'; readonly marker: string; readonly notBeforeMs: number; readonly untilMs: number };

export interface Indexed<T> {
  readonly index: number;
  readonly item: T;
}

/** `bare`: what made an earlier probe hang is left out, and the row says so with the name in brackets. */
export interface SweepItem {
  readonly pid: number;
  /** `args`: no cmdline. `all`: nothing but comm and status. */
  readonly without?: 'args' | 'all';
}

/** Header of what a probe sends. */
export type Reply =
  /** It is past exec and its own start, so its files in /proc can be read. */
  | { readonly kind: 'ready' }
  /** Still at the same item, and getting on. */
  | { readonly kind: 'alive' }
  /** Results of the next items, in the order asked; their bytes follow each other in the body. */
  | { readonly kind: 'items'; readonly results: readonly unknown[] }
  /** The request is answered. `spent`: this probe must not be used again. */
  | { readonly kind: 'done'; readonly result?: unknown; readonly spent?: boolean }
  /** A drain has its fifo open, or not. */
  | { readonly kind: 'opened'; readonly outcome: string; readonly detail?: string };

export interface Frame<Header> {
  readonly header: Header;
  readonly body: Buffer;
}

export const PREFIX_BYTES = 8;

/** Prefix and header in one buffer; the body follows it unchanged. */
export function encodeHeader(header: Request | Reply, bodyBytes: number): Buffer {
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
