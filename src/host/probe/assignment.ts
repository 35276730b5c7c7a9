import { monotonicMs } from '../clock.ts';
import type { Pending } from './pending.ts';
import type { ProbeProcess } from './probe-process.ts';
import type { Request } from './protocol.ts';

/** One request at one probe, from when that was chosen for it until it has answered or is parted with. */
export class Assignment {
  readonly pending: Pending;
  readonly probe: ProbeProcess;
  readonly #request: Request;
  /** Reading of the clock when it was sent, or since when it waits for a probe that is still starting. */
  #since = monotonicMs();
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(pending: Pending, probe: ProbeProcess, request: Request) {
    this.pending = pending;
    this.probe = probe;
    this.#request = request;
  }

  /** Sends the request. @param onSilent called once, when the probe has been silent for longer than the request allows */
  begin(onSilent: () => void): void {
    this.#since = monotonicMs();
    this.probe.send(this.#request);
    this.#watch(onSilent);
  }

  /** For how long the probe has said nothing, ms. */
  get silentMs(): number {
    return monotonicMs() - Math.max(this.probe.heardAt, this.#since);
  }

  /** The probe is not watched any more. */
  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  /** Looks again when the probe could have been silent for too long. */
  #watch(onSilent: () => void): void {
    const left = this.pending.itemMs - this.silentMs;
    if (!Number.isFinite(left)) return;
    this.#timer = setTimeout(
      () => {
        // After the poll phase: what arrived while this process itself was busy counts.
        setImmediate(() => {
          if (this.#over) return;
          if (this.silentMs < this.pending.itemMs) this.#watch(onSilent);
          else onSilent();
        });
      },
      Math.max(1, left),
    );
  }
}
