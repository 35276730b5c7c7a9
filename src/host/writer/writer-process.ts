import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { monotonicMs } from '../clock.ts';
import { encodeHeader, FrameReader } from '../frames.ts';
import type { Place } from '../output.ts';
import { type SelfCommand, WRITER_ARGUMENT } from '../self.ts';
import type { FileIdentity, Order, Receipt, Superseded } from './protocol.ts';

export interface WriterEvents {
  onSealed(path: string | null): void;
  /** An errno, or how it ended. Not called after `abandon`, and once at most. */
  onFailed(reason: string): void;
}

/**
 * Starts a writer that knows no place yet: it takes as long to start as to find out who is meant. It ends with its stdin, so
 * one that is never used needs no care. `stdout`: the descriptor that its place is, when that is a stream.
 */
export function startWriter(self: SelfCommand, stdout: 1 | 2 | null): ChildProcess {
  const [file, ...args] = self;
  // Pipes that nobody reads, for 'ignore' would want /dev/null, and a bare root may have none: spawn fails then.
  const stdio: StdioOptions = ['pipe', stdout ?? 'pipe', 'pipe', 'pipe'];
  // A group of its own: Ctrl-C at the terminal is for the parent, which seals what there is.
  const child = spawn(file, [...args, WRITER_ARGUMENT], { detached: true, stdio });
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
  // Whoever uses it hears of it; see `usable`.
  child.on('error', () => {});
  // A write to a writer that just ended: its exit tells it.
  child.stdin?.on('error', () => {});
  for (const stream of [child.stdin, child.stdio[3]]) (stream as { unref?: () => void } | null)?.unref?.();
  return child;
}

/**
 * Starts a child that takes away what was begun in a place that did not answer. It is not waited for and not ended: it may
 * hang as whoever wrote there, and does its work when that place answers again.
 */
export function startRemoval(self: SelfCommand, superseded: Superseded): void {
  const child = startWriter(self, null);
  child.stdin?.end(encodeHeader({ op: 'remove', superseded } satisfies Order, 0));
  for (const pipe of [child.stdin, child.stdio[3]]) (pipe as { unref?: () => void } | null)?.unref?.();
}

/** One that ended, or could not be started, before it had a place. */
export function usable(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** One writer child, seen from its parent. It keeps nobody waiting: a seal has its own timer. */
export class WriterProcess {
  readonly place: Place;
  /** Bytes that it was given. */
  given = 0;
  /** Bytes that it has receipts for. */
  written = 0;
  opened = false;
  /** What it has begun; null before it is open, and for a stream. */
  file: FileIdentity | null = null;
  /** Reading of the clock at its last receipt, or when it was given something to do while it had nothing. */
  movedAt = monotonicMs();
  readonly #child: ChildProcess;
  #events: WriterEvents | null;

  /** `warm`: a child that was started before, for a place that is a file. */
  constructor(self: SelfCommand, place: Place, events: WriterEvents, warm?: ChildProcess) {
    this.place = place;
    this.#events = events;
    this.#child = warm ?? startWriter(self, place.kind === 'stdout' ? (place.fd ?? 1) : null);
    this.#child.on('error', error => this.#fail(error.message));
    // `close` comes after the last receipt, which may have the reason.
    this.#child.on('close', (code, signal) => {
      this.#fail(signal === null ? `writer: exit code ${code}` : `writer: ended by ${signal}`);
    });
    const receipts = new FrameReader<Receipt>();
    const pipe = this.#child.stdio[3];
    pipe?.on('data', (chunk: Buffer) => {
      for (const { header } of receipts.push(chunk)) this.#take(header);
    });
    pipe?.on('error', () => {});
    this.#order({ op: 'open', place });
  }

  /** Given to it and not yet out. */
  get pending(): number {
    return this.given - this.written;
  }

  write(chunk: Buffer): void {
    if (this.pending === 0) this.movedAt = monotonicMs();
    this.given += chunk.length;
    this.#order({ op: 'data' }, chunk);
  }

  seal(): void {
    if (this.pending === 0) this.movedAt = monotonicMs();
    this.#order({ op: 'sync' });
  }

  /** Kills it and lets go of it. One in D stays until the disk answers; nobody waits for it. */
  abandon(): void {
    this.#events = null;
    for (const pipe of [this.#child.stdin, this.#child.stdio[3]]) {
      pipe?.removeAllListeners();
      pipe?.on('error', () => {});
      pipe?.destroy();
    }
    this.#child.kill('SIGKILL');
  }

  #order(order: Order, body?: Buffer): void {
    const { stdin } = this.#child;
    if (stdin === null || stdin.destroyed) return;
    stdin.write(encodeHeader(order, body?.length ?? 0));
    // The chunk itself, not a copy: a place that hangs must not double what is kept.
    if (body !== undefined) stdin.write(body);
  }

  #take(receipt: Receipt): void {
    this.movedAt = monotonicMs();
    if (receipt.kind === 'opened') {
      this.opened = true;
      this.file = receipt.file ?? null;
    } else if (receipt.kind === 'synced') {
      // One that was given up in the meantime is not told to go on: it must not finish a bundle that lies elsewhere.
      if (this.#events !== null) this.#order({ op: 'name' });
    } else if (receipt.kind === 'wrote') this.written = receipt.bytes;
    else if (receipt.kind === 'failed') {
      // It has taken back what it wrote.
      this.file = null;
      this.#fail(receipt.errno);
    } else {
      const events = this.#events;
      this.#events = null;
      events?.onSealed(receipt.path);
    }
  }

  #fail(reason: string): void {
    const events = this.#events;
    this.#events = null;
    events?.onFailed(reason);
  }
}
