import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../clock.ts';
import { FrameReader } from '../frames.ts';
import { errnoOf, outcomeOf } from '../outcome.ts';
import { hasOurDump } from './our-dump.ts';
import { send } from './pipes.ts';
import type { Request } from './protocol.ts';

/** A pipe holds 64 kB; what comes while we sleep this long fits. */
const POLL_MS = 5;
/** How long past its deadline a drain waits for the pipe to be empty once, with a writer that never pauses. */
const NEVER_EMPTY_MS = 300;
/** No dump is this long (a pod with a thousand goroutines: 1 MB); a log that never ends must not fill the memory. */
const LARGEST_BYTES = 32 << 20;

/**
 * Reads a shim's log fifo from before the signal until our dump is whole and the pipe is empty. Never half way: a pipe
 * left full blocks the shim in its next line of log. So at the deadline it reads on until the pipe is empty once.
 */
export async function drain(pid: number, fd: number): Promise<void> {
  const path = `/proc/${pid}/fd/${fd}`;
  let fifo: number;
  try {
    fifo = openFifo(path);
  } catch (error) {
    const answer =
      error instanceof NotAFifo
        ? ({ outcome: 'error', detail: error.message } as const)
        : outcomeOf(errnoOf(error), path);
    send({ kind: 'opened', ...answer });
    send({ kind: 'done', result: answer, spent: true });
    return;
  }
  send({ kind: 'opened', outcome: 'ok' });
  const chunks: Buffer[] = [];
  const until = finishRequest();
  let bytes = 0;
  let searched = -1;
  let whole = false;
  for (;;) {
    const emptied = readUntilEmpty(fifo, chunk => {
      chunks.push(chunk);
      bytes += chunk.length;
    });
    const asked = until.request();
    if (asked !== null) {
      if (bytes !== searched) whole = hasOurDump(Buffer.concat(chunks), asked.marker, asked.notBeforeMs);
      searched = bytes;
      if (emptied && (whole || monotonicMs() >= asked.untilMs)) break;
      if (monotonicMs() >= asked.untilMs + NEVER_EMPTY_MS) break;
    }
    if (until.parentGone() || bytes > LARGEST_BYTES) break;
    await sleep(POLL_MS);
  }
  closeSync(fifo);
  const body = Buffer.concat(chunks);
  const result = whole
    ? { outcome: 'ok' }
    : { outcome: body.length === 0 ? 'empty' : 'truncated', detail: 'the end of the dump did not come in time' };
  send({ kind: 'done', result: { ...result, bytes: body.length }, spent: true }, body);
}

class NotAFifo extends Error {}

/** The link leads to the pipe itself, also when its bundle was deleted. Without O_NONBLOCK it would wait for a writer. */
function openFifo(path: string): number {
  const pinned = openSync(path, 0o10000000);
  try {
    // Anything else must not be opened: a journal socket cannot, a terminal or device could act on it.
    if (!fstatSync(pinned).isFIFO()) throw new NotAFifo('is no fifo');
    return openSync(`/proc/self/fd/${pinned}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } finally {
    closeSync(pinned);
  }
}

/** True when the pipe was empty at last; 0 bytes (no writer) counts as empty. */
function readUntilEmpty(fifo: number, take: (chunk: Buffer) => void): boolean {
  const buffer = Buffer.allocUnsafe(64 << 10);
  // Some pipes full at most, then a turn for the parent's word.
  for (let turn = 0; turn < 64; turn += 1) {
    try {
      const read = readSync(fifo, buffer, 0, buffer.length, null);
      if (read === 0) return true;
      take(Buffer.from(buffer.subarray(0, read)));
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN') return true;
      throw error;
    }
  }
  return false;
}

/** The parent's `finish`, which comes while we read: the one time that a probe listens to stdin without waiting for it. */
function finishRequest() {
  const frames = new FrameReader<Request>();
  let request: Extract<Request, { op: 'finish' }> | null = null;
  let gone = false;
  process.stdin.on('data', (chunk: Buffer) => {
    for (const { header } of frames.push(chunk)) if (header.op === 'finish') request = header;
  });
  process.stdin.on('end', () => {
    gone = true;
  });
  return { request: (): Extract<Request, { op: 'finish' }> | null => request, parentGone: () => gone };
}
