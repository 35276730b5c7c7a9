import { readSync, writeSync } from 'node:fs';
import { encodeHeader, type Frame, lengthsIn, PREFIX_BYTES } from './frames.ts';
import { errnoOf } from './outcome.ts';

/**
 * A child's ends of its pipes, used synchronously: it has nothing to do but to answer, and must hang alone when it
 * hangs.
 */

/** The next frame, or null when the other end is gone. */
export function receiveFrame<Header>(fd: number): Frame<Header> | null {
  const prefix = readExactly(fd, PREFIX_BYTES);
  if (prefix === null) return null;
  const { header, body } = lengthsIn(prefix);
  const rest = readExactly(fd, header + body);
  if (rest === null) return null;
  return { header: JSON.parse(rest.toString('utf8', 0, header)) as Header, body: rest.subarray(header) };
}

const JOINED_BYTES = 1 << 20;

/** Throws EPIPE when the other end is gone. */
export function sendFrame(fd: number, header: object, ...body: readonly Buffer[]): void {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  const head = encodeHeader(header, bytes);
  // One write, which wakes the other end once; but a log of megabytes is not copied to stand behind its header.
  const parts = bytes <= JOINED_BYTES ? [Buffer.concat([head, ...body])] : [head, ...body];
  for (const part of parts) writeWhole(fd, part);
}

/** Writes all of it. `wrote` is called with the number of bytes whenever some are out. Throws the errno's error. */
export function writeWhole(
  fd: number,
  bytes: Buffer,
  sliceBytes = bytes.length,
  wrote?: (bytes: number) => void,
): void {
  for (let at = 0; at < bytes.length; ) {
    const written = writeOrWait(fd, bytes.subarray(at, at + sliceBytes));
    at += written;
    if (written > 0) wrote?.(written);
  }
}

const RETRY_MS = 2;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** 0 after a pause when a pipe is full that somebody made non-blocking: a shell, our parent, who share its description. */
function writeOrWait(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if (errnoOf(error) !== 'EAGAIN') throw error;
    Atomics.wait(sleeper, 0, 0, RETRY_MS);
    return 0;
  }
}

/** Null after a pause when nothing is there: the pipe is expected to block, but this is no reason to end. */
function readOrWait(fd: number, into: Buffer, at: number): number | null {
  try {
    return readSync(fd, into, at, into.length - at, null);
  } catch (error) {
    if (errnoOf(error) !== 'EAGAIN') throw error;
    Atomics.wait(sleeper, 0, 0, RETRY_MS);
    return null;
  }
}

function readExactly(fd: number, bytes: number): Buffer | null {
  const into = Buffer.allocUnsafe(bytes);
  for (let at = 0; at < bytes; ) {
    const read = readOrWait(fd, into, at);
    if (read === 0) return null;
    at += read ?? 0;
  }
  return into;
}
