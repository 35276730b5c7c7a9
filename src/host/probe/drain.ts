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
      const emptied = reader.ended || monotonicMs() - reader.heardAt() >= EMPTY_MS;
      if (emptied && (whole || monotonicMs() >= asked.untilMs)) break;
    }
    if (until.parentGone()) process.kill(process.pid, 'SIGKILL');
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
 * A dump that is larger than the pipe comes in several reads, and what lies between two of them is the other reader's chance:
 * nothing is done there but to say how far it is. The second open, without O_NONBLOCK, returns at once since the shim has
 * its end open; its time is up when none has.
 */
const READ_ON = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { openSync, readSync, constants } = require('node:fs');
  const fifo = openSync('/proc/self/fd/' + workerData.fifo, constants.O_RDONLY);
  const bytes = Buffer.from(workerData.memory);
  const length = new Int32Array(workerData.length);
  parentPort.postMessage('reading');
  for (let at = 0, read = 1; read > 0 && at < bytes.length; Atomics.store(length, 0, at)) {
    read = readSync(fifo, bytes, at, bytes.length - at, null);
    at += read;
  }
  parentPort.postMessage('end');
`;

class FifoReader {
  readonly #before: Uint8Array;
  /** Takes no room but for what was read. */
  readonly #memory = new SharedArrayBuffer(LARGEST_BYTES);
  readonly #length = new SharedArrayBuffer(4);
  readonly #lengths = new Int32Array(this.#length);
  #seen = 0;
  #heardAt = monotonicMs();
  readonly reading: Promise<void>;
  /** No writer is left, or the memory is full. */
  ended = false;

  /** @param before what was read already */
  constructor(fifo: number, before: Uint8Array = Buffer.alloc(0)) {
    this.#before = before;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.reading = promise;
    const workerData = { fifo, memory: this.#memory, length: this.#length };
    const worker = new Worker(READ_ON, { eval: true, workerData, execArgv: [] });
    const end = () => {
      this.ended = true;
      resolve();
    };
    worker.on('error', end);
    worker.on('exit', end);
    worker.on('message', (message: 'reading' | 'end') => (message === 'end' ? end() : resolve()));
  }

  get bytes(): number {
    return this.#before.length + Atomics.load(this.#lengths, 0);
  }

  /** Since when nothing has come, as far as it was asked. */
  heardAt(): number {
    if (this.#seen !== this.bytes) {
      this.#seen = this.bytes;
      this.#heardAt = monotonicMs();
    }
    return this.#heardAt;
  }

  /** All that was read so far. */
  body(): Buffer {
    const read = Buffer.from(this.#memory, 0, Atomics.load(this.#lengths, 0));
    return Buffer.concat([this.#before, read]);
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
