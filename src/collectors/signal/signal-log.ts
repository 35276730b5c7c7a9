import type { SignalRecord } from '../../bundle/signal-record.ts';
import type { Host } from '../../host/port.ts';
import type { Shim } from '../../sandbox/types.ts';
import type { Capture } from '../collector.ts';

/**
 * The record of one signal while it is being written. It stands in the manifest from the first moment, so that a grab
 * that ends early still says how far it came.
 */
export class SignalLog {
  readonly #host: Pick<Host, 'now'>;
  readonly #steps: { offsetMs: number; step: string; result: string }[] = [];
  readonly #record: { -readonly [key in keyof SignalRecord]: SignalRecord[key] };

  constructor(
    capture: Pick<Capture, 'host' | 'recordSignal'>,
    { pid, startTicks }: Pick<Shim, 'pid' | 'startTicks'>,
    to?: SignalRecord['to'],
  ) {
    this.#host = capture.host;
    this.#record = {
      ...{ pid, startTicks },
      ...(to === undefined ? {} : { to }),
      signal: 'SIGUSR1',
      outcome: 'not sent (the grab ended before the guards had read all)',
      offsetMs: capture.host.now().offsetMs,
      guards: [],
      steps: this.#steps,
      dump: 'not sent (the grab ended before)',
    };
    capture.recordSignal(this.#record);
  }

  /** `offsetMs`: when it ended, where that was not just now. */
  step(step: string, result: string, offsetMs: number = this.#host.now().offsetMs): void {
    this.#steps.push({ offsetMs, step, result });
  }

  guards(guards: SignalRecord['guards']): void {
    this.#record.guards = guards;
  }

  notSent(reason: string): void {
    this.#record.offsetMs = this.#host.now().offsetMs;
    this.#record.outcome = `not sent (${reason})`;
    this.#record.dump = `not sent (${reason})`;
  }

  /** `words`: what else is to be said, a guard that was overridden. */
  sent(offsetMs: number, words: string): void {
    this.#record.offsetMs = offsetMs;
    this.#record.outcome = words === '' ? 'sent' : `sent (${words})`;
    this.#record.dump = 'lost (the grab ended before the dump was looked for)';
  }

  dump(verdict: string): void {
    this.#record.dump = verdict;
  }
}
