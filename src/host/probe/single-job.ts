import type { Frame } from '../frames.ts';
import { type GivenUp, type Job, MOST_HANGS, notTried } from './job.ts';
import type { Reply, Request } from './protocol.ts';

export interface Answer {
  readonly result: unknown;
  readonly body: Buffer;
}

/** A request that is one item: a command, the kernel's log, a drain. It is asked once and never again. */
export class SingleJob implements Job {
  readonly name: string;
  readonly repeatable = false;
  readonly waits: boolean;
  /** What answered it, or why nothing did. */
  answer: Answer | GivenUp | null = null;
  readonly #request: Request;
  readonly #item: string;
  readonly #kind: string;
  readonly #onFrame: (frame: Frame<Reply>) => void;

  constructor(
    request: Request,
    item: string,
    kind: string = request.op,
    onFrame: (frame: Frame<Reply>) => void = () => {},
  ) {
    this.name = request.op;
    this.waits = request.op === 'drain';
    this.#request = request;
    this.#item = item;
    this.#kind = kind;
    this.#onFrame = onFrame;
  }

  request(hangs: (kind: string) => number): Request | null {
    const already = hangs(this.#kind);
    if (already >= MOST_HANGS) this.answer ??= { outcome: 'timeout', detail: notTried(already), openFile: null };
    return this.answer === null ? this.#request : null;
  }

  take(frame: Frame<Reply>): void {
    this.#onFrame(frame);
  }

  finish({ header, body }: Frame<Reply>): void {
    if (header.kind === 'done') this.answer = { result: header.result, body };
  }

  giveUp(_index: number | null, why: GivenUp): void {
    this.answer ??= why;
  }

  describe(): string {
    return this.#item;
  }

  kindOf(): string {
    return this.#kind;
  }
}
