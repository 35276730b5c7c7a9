import { type IncomingMessage, request } from 'node:http';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import { connectOutcomeOf, errnoOf } from '../outcome.ts';
import type { HttpCall } from '../port.ts';
import { connectPath } from './unix-socket.ts';

/** A call as the probe saw it, its body aside. `startMs`: reading of the monotonic clock. */
export type ReadHttpCall = Omit<HttpCall, 'offsetMs' | 'body'> & { readonly startMs: number };

const CALL_MS = 2000;
/** `docker inspect` of a container has some 10 kB. */
const LARGEST_BODY = 4 << 20;

/**
 * GETs paths from the HTTP server at a unix socket, all at the same time, each on a connection of its own.
 *
 * @param untilMs reading of the monotonic clock
 * @param done called once for each path
 */
export async function getAll(
  socket: string,
  paths: readonly string[],
  untilMs: number,
  done: (index: number, call: ReadHttpCall, body: Buffer) => void,
): Promise<void> {
  await Promise.all(
    paths.map(async (path, index) => {
      const startMs = monotonicMs();
      const { body, ...answered } = await get(socket, path, Math.min(CALL_MS, Math.max(1, untilMs - startMs)));
      done(index, { path, startMs, latencyMs: toMicroseconds(monotonicMs() - startMs), ...answered }, body);
    }),
  );
}

type Answered = Pick<HttpCall, 'outcome' | 'status' | 'detail' | 'body'>;

const EMPTY = Buffer.alloc(0);

function get(socket: string, path: string, timeoutMs: number): Promise<Answered> {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const failed = (error: unknown) =>
    resolve({ ...connectOutcomeOf(errnoOf(error), socket), status: null, body: EMPTY });
  try {
    // The name of a host is asked for, and means nothing here.
    const headers = { Host: 'localhost', Connection: 'close' };
    const asked = request({ path, headers, createConnection: () => connectPath(socket) });
    const detail = `no answer within ${Math.round(timeoutMs)} ms`;
    const end = (answered: Answered) => {
      clearTimeout(timer);
      resolve(answered);
      asked.destroy();
    };
    const timer = setTimeout(() => end({ outcome: 'timeout', status: null, detail, body: EMPTY }), timeoutMs);
    asked.on('response', response => read(response, end));
    asked.on('error', error => {
      clearTimeout(timer);
      failed(error);
    });
    asked.end();
  } catch (error) {
    failed(error);
  }
  return promise;
}

function read(response: IncomingMessage, end: (answered: Answered) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const status = response.statusCode ?? null;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= LARGEST_BODY) return;
    const body = Buffer.concat(chunks).subarray(0, LARGEST_BODY);
    end({ outcome: 'truncated', status, detail: `first ${LARGEST_BODY} bytes`, body });
  });
  response.on('end', () => {
    const body = Buffer.concat(chunks);
    if (status !== null && status >= 200 && status < 300) end({ outcome: 'ok', status, body });
    else end({ outcome: 'error', status, detail: `HTTP status ${status}`, body });
  });
  response.on('error', error => end({ outcome: 'error', status, detail: errnoOf(error), body: Buffer.concat(chunks) }));
}
