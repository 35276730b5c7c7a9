import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { monotonicMs } from '../clock.ts';
import { FrameReader } from '../frames.ts';
import { errnoOf, outcomeOf } from '../outcome.ts';
import { type Decoyed, offerDecoy } from './decoy.ts';
import { hasOurDump } from './our-dump.ts';
import { send } from './pipes.ts';
import type { Request } from './protocol.ts';

/** How often the parent's word is looked at. */
const POLL_MS = 5;
/** A thread that waits in read(2) has what is written at once: silence for so long is an empty pipe. */
const EMPTY_MS = 25;
/** No dump is this long (a pod with a thousand goroutines: 1 MB); a log that never ends must not fill the memory. */
const LARGEST_BYTES = 32 << 20;

/**
 * Reads a shim's log fifo from before the signal until our dump is whole and the pipe is empty. Never half way: a pipe
 * left full blocks the shim in its next line of log. So at the deadline it reads on until the pipe is empty once.
 */
export async function drain(pid: number, fd: number, decoy: boolean): Promise<void> {
  const path = `/proc/${pid}/fd/${fd}`;
  let fifo: number;
  let decoyed: Decoyed | null = null;
  try {
    fifo = openFifo(path);
    if (decoy) decoyed = await offerDecoy(fifo);
  } catch (error) {
    const answer =
      error instanceof NotAFifo
        ? ({ outcome: 'error', detail: error.message } as const)
        : outcomeOf(errnoOf(error), path);
    send({ kind: 'opened', ...answer });
    send({ kind: 'done', result: answer, spent: true });
    return;
  }
  const reader = new FifoReader(fifo, decoyed?.read);
  await reader.reading;
  const detail =
    decoyed === null ? {} : { detail: `an empty line went in first, for whoever reads beside us: ${decoyed.words}` };
  send({ kind: 'opened', outcome: 'ok', ...detail });
  const until = finishRequest();
  let whole = false;
  let searched = -1;
  for (;;) {
    const asked = until.request();
    if (asked !== null) {
      if (!whole && searched !== reader.bytes) {
        searched = reader.bytes;
        whole = hasOurDump(reader.body(), asked.marker, asked.notBeforeMs);
      }
      const emptied = reader.ended || monotonicMs() - reader.heardAt >= EMPTY_MS;
      if (emptied && (whole || monotonicMs() >= asked.untilMs)) break;
    }
    if (until.parentGone()) process.kill(process.pid, 'SIGKILL');
    if (reader.bytes > LARGEST_BYTES) break;
    // With a writer that never pauses `emptied` may never come: the parent's deadline ends that.
    await sleep(POLL_MS);
  }
  const body = reader.body();
  const result = whole
    ? { outcome: 'ok' }
    : { outcome: body.length === 0 ? 'empty' : 'truncated', detail: 'the end of the dump did not come in time' };
  send({ kind: 'done', result: { ...result, bytes: body.length }, spent: true }, body);
  // A thread in read(2) keeps a process from its exit, and would go on to take what is containerd's: only a kill ends both,
  // the parent's, or our own when the parent is gone.
  while (!until.parentGone()) await sleep(POLL_MS);
  process.kill(process.pid, 'SIGKILL');
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

/**
 * Runs in a thread of its own, and sleeps inside read(2): the kernel wakes it in the pipe itself. Against a containerd
 * that waits in epoll beside it, it was first in 3 to 10 of 20 dumps, polling in 2 of 20; with real-time priority in 20.
 * The second open, without O_NONBLOCK, returns at once since the shim has its end open; its time is up when none has.
 */
const READ_ON = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { openSync, readSync, constants } = require('node:fs');
  const fifo = openSync('/proc/self/fd/' + workerData, constants.O_RDONLY);
  const buffer = Buffer.allocUnsafe(256 << 10);
  parentPort.postMessage('reading');
  for (;;) {
    const read = readSync(fifo, buffer, 0, buffer.length, null);
    parentPort.postMessage(read === 0 ? 'end' : Uint8Array.prototype.slice.call(buffer, 0, read));
    if (read === 0) break;
  }
`;

class FifoReader {
  readonly #chunks: Buffer[] = [];
  readonly reading: Promise<void>;
  bytes = 0;
  heardAt = monotonicMs();
  /** No writer is left. */
  ended = false;

  /** @param before what was read already */
  constructor(fifo: number, before: Uint8Array = Buffer.alloc(0)) {
    if (before.length > 0) this.#take(before);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.reading = promise;
    const worker = new Worker(READ_ON, { eval: true, workerData: fifo, execArgv: [] });
    const end = () => {
      this.ended = true;
      resolve();
    };
    worker.on('error', end);
    worker.on('exit', end);
    worker.on('message', (message: 'reading' | 'end' | Uint8Array) => {
      if (message === 'reading') resolve();
      else if (message === 'end') end();
      else this.#take(message);
    });
  }

  /** All that was read so far. */
  body(): Buffer {
    if (this.#chunks.length > 1) this.#chunks.splice(0, this.#chunks.length, Buffer.concat(this.#chunks));
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #take(chunk: Uint8Array): void {
    this.heardAt = monotonicMs();
    this.bytes += chunk.length;
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  }
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
