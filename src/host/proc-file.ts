import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { errnoOf } from './outcome.ts';

/** The text of a file, or the errno of the attempt. */
export type Text = { readonly text: string; readonly errno: null } | { readonly text: null; readonly errno: string };

/**
 * The whole text of a file of /proc. With an encoding, node reads in one call into C++ until a read gives 0 bytes, as
 * /proc needs: its files have no size, and some come in pieces of a page (mountinfo).
 */
export function readText(path: string): Text {
  try {
    return { text: readFileSync(path, 'utf8'), errno: null };
  } catch (error) {
    return { text: null, errno: errnoOf(error) };
  }
}

const CHUNK = 64 << 10;
let buffer: Buffer | null = null;

/** At most `maxBytes` of a file of /proc, as bytes; `cut` when there was more. Throws the errno's error. */
export function readBytes(path: string, maxBytes: number): { readonly body: Buffer; readonly cut: boolean } {
  buffer ??= Buffer.allocUnsafe(CHUNK);
  const fd = openSync(path, 'r');
  try {
    const pieces: Buffer[] = [];
    let total = 0;
    // One byte more than wanted tells whether the file goes on.
    while (total <= maxBytes) {
      const read = readSync(fd, buffer, 0, Math.min(CHUNK, maxBytes + 1 - total), null);
      if (read === 0) break;
      pieces.push(Buffer.from(buffer.subarray(0, read)));
      total += read;
    }
    const all = Buffer.concat(pieces);
    return { body: all.subarray(0, maxBytes), cut: total > maxBytes };
  } finally {
    closeSync(fd);
  }
}
