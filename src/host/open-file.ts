import { createReadStream } from 'node:fs';
import process from 'node:process';

/**
 * The bytes of a file, in pieces, for commands that work on a bundle; '-' is standard input. Errors of the system
 * (ENOENT, EACCES, EISDIR) come from the first step of the iteration.
 */
export function fileChunks(path: string): AsyncIterable<Uint8Array> {
  return path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
}
