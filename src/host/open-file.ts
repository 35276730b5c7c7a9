import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import process from 'node:process';

/**
 * The bytes of a file, in pieces, for commands that work on a bundle; '-' is standard input. Errors of the system
 * (ENOENT, EACCES, EISDIR) come from the first step of the iteration.
 */
export function fileChunks(path: string): AsyncIterable<Uint8Array> {
  return path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
}

/** The beginning of a file that the user named, and when it was written. @throws as `fileChunks` does */
export async function openFile(
  path: string,
  maxBytes: number,
): Promise<{ readonly text: string; readonly mtimeMs: number }> {
  await using file = await open(path);
  const { mtimeMs } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
  return { text: buffer.toString('utf8', 0, bytesRead), mtimeMs };
}
