import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { EXIT, StallcapError } from '../../errors.ts';
import { monotonicMs } from '../clock.ts';
import type { Output, Place, Sealed } from '../output.ts';
import { type SelfCommand, selfCommand } from '../self.ts';
import type { Superseded } from './protocol.ts';
import { startRemoval, usable, WriterProcess } from './writer-process.ts';

export interface OutputOptions {
  /** How to start this program again, for its writers. */
  readonly self?: SelfCommand;
  /** A place that has something to write and is silent for so long is given up. */
  readonly silenceMs?: number;
  /** A writer of `startWriter(self, null)`, for the first place when that is a file. */
  readonly warm?: ChildProcess;
}

const SILENCE_MS = 1500;
/** Before its first receipt a writer has to start, on a node that may be busy. */
const START_MS = 3000;
/** What is kept of a seal's time for the places that follow. */
const RESERVE_MS = 1000;
const WATCH_MS = 100;

/** Writes to the first place that takes everything. Places are tried in order, each from the first byte. */
export function openOutput(places: readonly Place[], options: OutputOptions = {}): Output {
  return new ReplayedOutput(places, options);
}

interface Seal {
  readonly endsAt: number;
  readonly resolve: (sealed: Sealed) => void;
  readonly reject: (error: Error) => void;
}

class ReplayedOutput implements Output {
  readonly #self: SelfCommand;
  readonly #silenceMs: number;
  #warm: ChildProcess | undefined;
  readonly #left: Place[];
  readonly #abandoned: { readonly place: string; readonly reason: string }[] = [];
  /** What was begun in places that were given up. */
  readonly #superseded: Superseded[] = [];
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #writer: WriterProcess | null = null;
  #seal: Seal | null = null;
  #watch: NodeJS.Timeout | undefined;

  constructor(places: readonly Place[], { self = selfCommand(), silenceMs = SILENCE_MS, warm }: OutputOptions) {
    this.#self = self;
    this.#silenceMs = silenceMs;
    this.#warm = warm;
    this.#left = [...places];
    this.#next();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get current(): string {
    return this.#writer === null ? 'nowhere' : nameOf(this.#writer.place);
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#writer?.write(chunk);
  }

  seal(deadlineMs: number): Promise<Sealed> {
    const { promise, resolve, reject } = Promise.withResolvers<Sealed>();
    const timer = setTimeout(() => this.#end(`no answer within ${Math.round(deadlineMs)} ms`), deadlineMs);
    const endsAt = monotonicMs() + deadlineMs;
    this.#seal = {
      endsAt,
      resolve: sealed => {
        clearTimeout(timer);
        resolve(sealed);
      },
      reject: error => {
        clearTimeout(timer);
        reject(error);
      },
    };
    if (this.#writer === null) this.#end('no place is left');
    else this.#writer.seal();
    return promise;
  }

  /** Gives everything so far to a writer in the next place. */
  #next(): void {
    clearTimeout(this.#watch);
    const place = this.#left.shift();
    if (place === undefined) {
      this.#writer = null;
      this.#end('no place is left');
      return;
    }
    const events = {
      onSealed: (path: string | null) => this.#sealed(path),
      onFailed: (reason: string) => this.#abandon(reason),
    };
    const warm = place.kind === 'file' && this.#warm !== undefined && usable(this.#warm) ? this.#warm : undefined;
    if (warm !== undefined) this.#warm = undefined;
    const writer = new WriterProcess(this.#self, place, events, warm);
    this.#writer = writer;
    for (const chunk of this.#chunks) writer.write(chunk);
    if (this.#seal !== null) writer.seal();
    this.#watchWriter(writer);
  }

  #watchWriter(writer: WriterProcess): void {
    this.#watch = setTimeout(() => {
      // After the poll phase: receipts that came while this process itself was busy count.
      setImmediate(() => {
        if (this.#writer !== writer) return;
        const silent = monotonicMs() - writer.movedAt;
        if (silent >= this.#patience(writer)) this.#abandon(`no answer for ${Math.round(silent)} ms`);
        else this.#watchWriter(writer);
      });
    }, WATCH_MS);
    // A seal has a timer that keeps the process; before it there is a capture that does.
    this.#watch.unref();
  }

  /** How long this writer may be silent, as things stand. */
  #patience(writer: WriterProcess): number {
    const busy = writer.pending > 0 || this.#seal !== null || !writer.opened;
    if (!busy) return Number.POSITIVE_INFINITY;
    const last = this.#left.length === 0;
    if (last) return Number.POSITIVE_INFINITY;
    const left = this.#seal === null ? Number.POSITIVE_INFINITY : this.#seal.endsAt - monotonicMs() - RESERVE_MS;
    // What went to stdout cannot be taken back: a reader that pauses (a slow link) gets all the time there is.
    if (writer.place.kind === 'stdout' && writer.opened) return left;
    if (!writer.opened) return Math.min(START_MS, Math.max(this.#silenceMs, left));
    // All is written and only the disk's word is missing: it gets half of the time.
    const usual = writer.pending > 0 || this.#seal === null ? this.#silenceMs : Math.max(this.#silenceMs, left / 2);
    return Math.min(usual, Math.max(left, RESERVE_MS / 2));
  }

  #abandon(reason: string): void {
    const writer = this.#writer;
    if (writer === null) return;
    writer.abandon();
    this.#abandoned.push({ place: nameOf(writer.place), reason });
    const { place, file } = writer;
    if (place.kind === 'file' && file !== null) this.#superseded.push({ dir: place.dir, name: place.name, file });
    this.#next();
  }

  #sealed(path: string | null): void {
    clearTimeout(this.#watch);
    const seal = this.#seal;
    this.#seal = null;
    // Not before the bundle is safe elsewhere: until then what was begun is all there is.
    for (const superseded of this.#superseded) startRemoval(this.#self, superseded);
    seal?.resolve({ path, bytes: this.#bytes, abandoned: [...this.#abandoned] });
  }

  #end(why: string): void {
    const seal = this.#seal;
    if (seal === null) return;
    this.#seal = null;
    clearTimeout(this.#watch);
    if (this.#writer !== null) {
      this.#abandoned.push({ place: nameOf(this.#writer.place), reason: why });
      this.#writer.abandon();
      this.#writer = null;
    }
    const tried = this.#abandoned.map(({ place, reason }) => `${place}: ${reason}`).join('; ');
    seal.reject(
      new StallcapError(`No place took the bundle (${tried}).`, {
        code: 'no-place-for-bundle',
        exit: EXIT.fault,
        next: ['Name a directory that answers and has room, with -o DIR/, or stream the bundle away with -o -.'],
      }),
    );
  }
}

function nameOf(place: Place): string {
  return place.kind === 'stdout' ? 'stdout' : join(place.dir, place.name);
}
