import { monotonicMs } from '../clock.ts';
import type { SelfCommand } from '../self.ts';
import { type ProbeEvents, ProbeProcess } from './probe-process.ts';

/** So many starts in a row may fail (no memory, no pids) before nothing is tried any more. */
const MOST_FAILED_STARTS = 4;

/** Probes without a request: where they come from, and how they end when the run does. */
export class IdleProbes {
  readonly #self: SelfCommand;
  readonly #idle: ProbeProcess[] = [];
  #failedStarts = 0;
  /** How many were started in all. */
  started = 0;
  /** Reading of the clock when the last one was. */
  startedAt = Number.NEGATIVE_INFINITY;

  constructor(self: SelfCommand) {
    this.#self = self;
  }

  get all(): readonly ProbeProcess[] {
    return this.#idle;
  }

  /** A new one, which is not idle: whoever starts it has something for it. */
  start(events: (probe: ProbeProcess) => ProbeEvents): ProbeProcess {
    this.started += 1;
    this.startedAt = monotonicMs();
    const probe: ProbeProcess = new ProbeProcess(this.#self, {
      onReady: () => {
        this.#failedStarts = 0;
        events(probe).onReady();
      },
      onFrame: frame => events(probe).onFrame(frame),
      onEnd: why => {
        this.#forget(probe);
        if (probe.readyAt === null) this.#failedStarts += 1;
        events(probe).onEnd(why);
      },
    });
    return probe;
  }

  /** One that is there before one that is still starting. */
  take(): ProbeProcess | undefined {
    const ready = this.#idle.findLastIndex(probe => probe.readyAt !== null);
    return this.#idle.splice(ready, 1)[0];
  }

  put(probe: ProbeProcess): void {
    this.#idle.push(probe);
  }

  /** Whether it is no use to start another. Said once: the next request tries anew, for what was short may have come back. */
  gaveUpStarting(): boolean {
    if (this.#failedStarts < MOST_FAILED_STARTS) return false;
    this.#failedStarts = 0;
    return true;
  }

  /** They get a moment to end by themselves, so that their cost is known; none is waited for longer. */
  async dismiss(graceMs: number): Promise<void> {
    const leaving = this.#idle.splice(0);
    for (const probe of leaving) probe.dismiss();
    const gone = Promise.all(leaving.map(probe => new Promise<void>(resolve => probe.onceExited(resolve))));
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    await Promise.race([gone, late]);
    clearTimeout(timer);
    for (const probe of leaving) if (!probe.exited) probe.abandon();
  }

  #forget(probe: ProbeProcess): void {
    const index = this.#idle.indexOf(probe);
    if (index >= 0) this.#idle.splice(index, 1);
  }
}
