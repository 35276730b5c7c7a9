import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../outcome.ts';

/** An empty line: logrus and journald pass over it. */
const DECOY = Buffer.from('\n');
/** How long a reader has to take it, and how often it is offered. On a machine under load it wakes up later. */
const TAKE_MS = 40;
const OFFERS = 4;

export interface Decoyed {
  /** What lay in the pipe and would have been read by us anyhow. */
  readonly read: Buffer;
  /** What became of the line. */
  readonly words: string;
}

/**
 * Gives the other reader of a fifo an empty line, before the dump comes. A containerd that cannot write its log reads once more,
 * 32 KiB at most, and hangs with what it got (io.Copy from the fifo to its stderr): a piece out of the middle of a dump that is
 * larger than the pipe, in a quarter of the dumps of 250 kB that were tried. Once it hangs with the line the pipe is ours alone.
 *
 * @param fifo our reading end, non-blocking
 */
export async function offerDecoy(fifo: number): Promise<Decoyed> {
  const read: Buffer[] = [];
  for (let offer = 0; offer < OFFERS; offer += 1) {
    const failed = put(fifo);
    if (failed !== null) return { read: Buffer.concat(read), words: `that failed: ${failed}` };
    await sleep(TAKE_MS);
    const left = readAll(fifo);
    if (left.length === 0) return { read: Buffer.concat(read), words: 'the other reader took it, and hangs with it' };
    if (!left.equals(DECOY)) read.push(left);
  }
  return { read: Buffer.concat(read), words: 'the other reader did not take it' };
}

/** Our writing end is open for this moment alone: it must not keep the pipe alive. @returns null, or why it could not be written */
function put(fifo: number): string | null {
  let end: number | null = null;
  try {
    end = openSync(`/proc/self/fd/${fifo}`, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(end, DECOY);
    return null;
  } catch (error) {
    const errno = errnoOf(error);
    return errno === 'EAGAIN' ? 'the pipe is full, so nobody reads it' : errno;
  } finally {
    if (end !== null) closeSync(end);
  }
}

/** What is in the pipe just now. */
function readAll(fifo: number): Buffer {
  const buffer = Buffer.allocUnsafe(256 << 10);
  try {
    return Buffer.from(buffer.subarray(0, readSync(fifo, buffer)));
  } catch {
    // EAGAIN: nothing. Anything else the reader will meet as well, and say.
    return Buffer.alloc(0);
  }
}
