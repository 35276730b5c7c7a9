import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { monotonicMs } from '../clock.ts';
import { encodeHeader, type Frame, FrameReader } from '../frames.ts';
import { PROBE_ARGUMENT, type SelfCommand } from '../self.ts';
import type { Reply, Request } from './protocol.ts';

/** A third of the CPU that others get beside it: enough to be on time, too little to be in the way. */
const NICE = 5;

export interface ProbeEvents {
  /** It has started and takes requests. */
  onReady(): void;
  onFrame(frame: Frame<Reply>): void;
  /** It ended, or could not be started. Not called after `abandon`. */
  onEnd(why: string): void;
}

/**
 * One probe child, seen from its parent. It keeps nobody waiting: child and pipes are unref'd, since whoever waits for
 * an answer has a timer of its own.
 */
export class ProbeProcess {
  /** Reading of the clock when it said that it is there; null before. */
  readyAt: number | null = null;
  /** Reading of the clock at its last sign of life. */
  heardAt = monotonicMs();
  /** False while it may still exist; after a SIGKILL that it does not follow it stays so. */
  exited = false;
  readonly #child: ChildProcess;
  #events: ProbeEvents | null;
  #leavesCpu = false;

  constructor(self: SelfCommand, events: ProbeEvents) {
    this.#events = events;
    const [file, ...args] = self;
    // A group of its own: the terminal's Ctrl-C is not for it, and one kill ends it with its commands.
    this.#child = spawn(file, [...args, PROBE_ARGUMENT], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    // Nobody reads what it complains of. 'ignore' would want /dev/null, and a bare root may have none: spawn fails then.
    this.#child.stderr?.destroy();
    this.#child.unref();
    this.#child.on('error', error => this.#end(error.message));
    this.#child.on('exit', (code, signal) => {
      this.exited = true;
      this.#end(signal === null ? `exit code ${code}` : `ended by ${signal}`);
    });
    const frames = new FrameReader<Reply>();
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.heardAt = monotonicMs();
      const came = frames.push(chunk);
      freeChunk(chunk);
      for (const frame of came) {
        if (frame.header.kind !== 'ready') this.#events?.onFrame(frame);
        else {
          this.readyAt = monotonicMs();
          this.#events?.onReady();
        }
      }
    });
    // A write to a probe that just ended: `exit` tells it.
    this.#child.stdin?.on('error', () => {});
    this.#child.stdout?.on('error', () => {});
    unref(this.#child.stdin);
    unref(this.#child.stdout);
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(request: Request): void {
    this.#child.stdin?.write(encodeHeader(request, 0));
  }

  /** Its main thread does all the work, and commands inherit its priority. The I/O class stays: best-effort, never idle. */
  leaveCpu(): void {
    if (this.#leavesCpu || this.pid === undefined) return;
    this.#leavesCpu = true;
    try {
      setPriority(this.pid, NICE);
    } catch {
      // Gone in this moment.
    }
  }

  /** Lets it end by itself: it does when its stdin ends. */
  dismiss(): void {
    this.#events = null;
    this.#child.stdin?.end();
  }

  onceExited(callback: () => void): void {
    if (this.exited || this.pid === undefined) callback();
    else this.#child.once('exit', callback);
  }

  /** Kills its whole group and lets go of it. One in D stays until what it waits for answers; nobody waits for it. */
  abandon(): void {
    this.#events = null;
    for (const pipe of [this.#child.stdin, this.#child.stdout]) {
      pipe?.removeAllListeners();
      pipe?.on('error', () => {});
      pipe?.destroy();
    }
    if (this.pid === undefined || this.exited) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Gone in this moment.
    }
  }

  #end(why: string): void {
    const events = this.#events;
    this.#events = null;
    events?.onEnd(why);
  }
}

/**
 * Each read of a pipe has 64 KiB of its own, which nobody looks at any more once they are in a frame. The garbage collector
 * lets 32 MiB of such stand.
 */
function freeChunk({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** The pipes of a child are sockets; their type does not say so. */
function unref(stream: unknown): void {
  (stream as { unref?: () => void } | null)?.unref?.();
}
