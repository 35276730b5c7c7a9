import type { Socket } from 'node:net';
import { type CallRequest, type CallResponse, decodeResponse, encodeCall } from '../../formats/ttrpc/call.ts';
import { encodeFrame, REQUEST, RESPONSE, TtrpcFrameReader } from '../../formats/ttrpc/frame.ts';
import { connectOutcomeOf, errnoOf } from '../outcome.ts';
import { connectUnix } from './unix-socket.ts';

export type Reply =
  | { readonly outcome: 'answered'; readonly response: CallResponse }
  | { readonly outcome: 'error' | 'timeout' | 'gone' | 'denied'; readonly detail: string };

type Failed = Exclude<Reply, { readonly outcome: 'answered' }>;

/** One connection to a ttrpc server; calls on it run side by side, each on a stream of its own. */
export class TtrpcConnection {
  readonly #socket: Socket | null;
  readonly #frames = new TtrpcFrameReader();
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #stream = -1;
  /** Why nothing can be asked any more. */
  #failed: Failed | null = null;

  /** Connects at once. A failure is the reply to each call. */
  constructor(address: string, prefix: string) {
    this.#socket = this.#open(address, prefix);
    this.#socket?.on('data', chunk => this.#take(chunk));
    this.#socket?.on('error', error => this.#fail(failureOf(error, address)));
    this.#socket?.on('close', () => this.#fail({ outcome: 'error', detail: 'the shim has closed the connection' }));
  }

  /** Resolves after `timeoutMs` at the latest: a server that is stopped has the connection and the request taken by its kernel. */
  call(request: Omit<CallRequest, 'timeoutMs'>, timeoutMs: number): Promise<Reply> {
    if (this.#failed !== null) return Promise.resolve(this.#failed);
    this.#stream += 2;
    const stream = this.#stream;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const detail = `no answer within ${Math.round(timeoutMs)} ms`;
    const timer = setTimeout(() => this.#settle(stream, { outcome: 'timeout', detail }), timeoutMs);
    this.#waiting.set(stream, reply => {
      clearTimeout(timer);
      resolve(reply);
    });
    const body = encodeCall({ ...request, timeoutMs: Math.round(timeoutMs) });
    this.#socket?.write(encodeFrame({ stream, type: REQUEST, flags: 0, body }));
    return promise;
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(address: string, prefix: string): Socket | null {
    try {
      return connectUnix(address, prefix);
    } catch (error) {
      this.#failed = failureOf(error, address);
      return null;
    }
  }

  #take(chunk: Buffer): void {
    for (const { stream, type, body } of this.#frames.push(chunk)) {
      const response = type === RESPONSE ? decodeResponse(body) : null;
      const garbage = { outcome: 'error', detail: 'an answer that is none of ttrpc' } as const;
      this.#settle(stream, response === null ? garbage : { outcome: 'answered', response });
    }
    const { refusal } = this.#frames;
    if (refusal === null) return;
    this.#fail({ outcome: 'error', detail: `what answers ${refusal}, and is no ttrpc server` });
    this.close();
  }

  #settle(stream: number, reply: Reply): void {
    const settle = this.#waiting.get(stream);
    this.#waiting.delete(stream);
    settle?.(reply);
  }

  #fail(why: Failed): void {
    this.#failed ??= why;
    for (const stream of [...this.#waiting.keys()]) this.#settle(stream, this.#failed);
  }
}

function failureOf(error: unknown, address: string): Failed {
  const errno = errnoOf(error);
  if (errno === 'EAGAIN') return { outcome: 'error', detail: `${errno}: its queue of connections is full` };
  const { outcome, detail } = connectOutcomeOf(errno, address);
  return { outcome: outcome === 'gone' || outcome === 'denied' ? outcome : 'error', detail };
}
