import { closeSync, openSync, writeSync } from 'node:fs';
import { monotonicMs } from '../clock.ts';
import { send } from './pipes.ts';

/** Few large messages: each one wakes the parent. What a batch holds when its probe hangs is read again by the next. */
const BATCH_BYTES = 64 << 10;
const BATCH_MS = 20;
/** How often a long item says that it gets on. */
const ALIVE_MS = 100;

/** Results on their way to the parent, and the sign by which it knows the item that a silent probe hangs in. */
export class Batch {
  #results: unknown[] = [];
  #bodies: Buffer[] = [];
  #bytes = 0;
  #sentAt = monotonicMs();

  /**
   * Names the item that is read next in the probe's own `comm`: the parent can read that of a probe that is in D, and a
   * person sees it in ps. It costs a write of some bytes; a message per item would wake the parent each time.
   */
  begin(index: number): void {
    markItem(index);
  }

  add(result: unknown, body: Buffer): void {
    this.#results.push(result);
    this.#bodies.push(body);
    this.#bytes += body.length;
    if (this.#bytes >= BATCH_BYTES || monotonicMs() - this.#sentAt >= BATCH_MS) this.flush();
  }

  flush(): void {
    if (this.#results.length === 0) return;
    send({ kind: 'items', results: this.#results }, ...this.#bodies);
    this.#results = [];
    this.#bodies = [];
    this.#bytes = 0;
    this.#sentAt = monotonicMs();
  }

  readonly alive = (): void => {
    if (monotonicMs() - this.#sentAt < ALIVE_MS) return;
    this.flush();
    send({ kind: 'alive' });
    this.#sentAt = monotonicMs();
  };
}

let comm: number | null = null;

function markItem(index: number): void {
  const name = `${MARK}${index}`;
  try {
    comm ??= openSync('/proc/self/comm', 'w');
    writeSync(comm, name);
  } catch {
    // A /proc that is mounted read-only: the title sets the same name, and the command line with it.
    if (comm !== null) closeSync(comm);
    comm = null;
    process.title = name;
  }
}

const MARK = 'probe:';

/** The item that a probe's `comm` names, or null. */
export function itemIn(comm: string): number | null {
  const digits = comm.startsWith(MARK) ? comm.slice(MARK.length).trim() : '';
  return /^\d+$/.test(digits) ? Number(digits) : null;
}
