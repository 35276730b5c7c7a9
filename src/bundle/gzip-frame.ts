import { crc32 } from 'node:zlib';

/**
 * The gzip frame around a bundle (RFC 1952): one member with the tar, and one empty member, the seal, whose comment is
 * the SHA-256 of every byte before it.
 *
 * gzip's own CRC does not cover its header, nor the bits that pad a stored block; with the seal, any flipped bit in the
 * file is found, and a file without the seal was cut. Every gunzip reads an empty member as nothing and skips a comment
 * without a word (GNU gzip 1.12, busybox 1.35, Python 3.11, zlib).
 */

/** Magic, deflate, no flags, no time, fastest algorithm, Unix. */
export const GZIP_HEADER = Buffer.from('1f8b0800000000000403', 'hex');

/** The final, empty block of a deflate stream. */
const LAST_BLOCK = Buffer.from('0300', 'hex');

const SEAL_HEADER = Buffer.from('1f8b0810000000000403', 'hex');
const SEAL_TEXT = 'stallcap seal sha256=';

/** Length of the seal in bytes: header, comment with its NUL, empty block, CRC-32 and length of nothing. */
export const SEAL_BYTES = SEAL_HEADER.length + SEAL_TEXT.length + 64 + 1 + LAST_BLOCK.length + 8;

/** Running CRC-32 and length of what was deflated: what the end of the member states. */
export class MemberEnd {
  #crc = 0;
  #length = 0;

  update(raw: Buffer): void {
    this.#crc = crc32(raw, this.#crc);
    this.#length += raw.length;
  }

  /** Last block, CRC-32, length modulo 2^32. */
  bytes(): Buffer {
    const end = Buffer.alloc(LAST_BLOCK.length + 8);
    LAST_BLOCK.copy(end);
    end.writeUInt32LE(this.#crc, 2);
    end.writeUInt32LE(this.#length % 2 ** 32, 6);
    return end;
  }
}

/** The seal over a file whose bytes so far have this SHA-256 (hex). */
export function seal(sha256: string): Buffer {
  return Buffer.concat([SEAL_HEADER, Buffer.from(`${SEAL_TEXT}${sha256}\0`, 'latin1'), LAST_BLOCK, Buffer.alloc(8)]);
}

/** The SHA-256 that a seal states; null when these bytes are not exactly a seal. */
export function sealedSha256(bytes: Buffer): string | null {
  const from = SEAL_HEADER.length + SEAL_TEXT.length;
  const sha256 = bytes.toString('latin1', from, from + 64);
  return /^[0-9a-f]{64}$/.test(sha256) && seal(sha256).equals(bytes) ? sha256 : null;
}
