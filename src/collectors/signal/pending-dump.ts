import type { Drain, FileResult, Moment } from '../../host/port.ts';
import type { Shim } from '../../sandbox/types.ts';
import type { Capture } from '../collector.ts';
import type { DrainPlan } from './drain-plan.ts';
import type { SignalLog } from './signal-log.ts';
import type { Sink } from './sink.ts';

/** What the phase `signal` leaves to the phase `linger`: a dump that is on its way. */
export interface PendingDump {
  readonly shim: Shim;
  readonly log: SignalLog;
  /** Why there is none. */
  readonly refusal: Refusal | null;
  readonly sent: SentSignal | null;
}

export interface Refusal {
  readonly reason: string;
  /** `chosen`: the user asked for none, or the shim has no dump to give. `denied`: no right to signal. */
  readonly kind: 'chosen' | 'guard' | 'denied';
}

export interface SentSignal {
  readonly at: Moment;
  readonly plan: DrainPlan;
  readonly sink: Sink;
  /** The shim's descriptor of its log fifo; null when it has none open. */
  readonly fifo: number | null;
  /** What our own reader, opened before the signal, got from the fifo. */
  readonly drained: Promise<FileResult> | null;
}

export type OpenDrain = Pick<Drain, 'finish'>;

const KEY = 'goroutine-signal: dumps on their way';

/** For the collector that fetches it, later in the grab. */
export function leaveDump(capture: Pick<Capture, 'notes'>, dump: PendingDump): void {
  capture.notes.set(KEY, [...pendingDumps(capture), dump]);
}

/** Those that were left so far. */
export function pendingDumps(capture: Pick<Capture, 'notes'>): readonly PendingDump[] {
  return (capture.notes.get(KEY) as readonly PendingDump[] | undefined) ?? [];
}
