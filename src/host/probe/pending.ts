import { monotonicMs } from '../clock.ts';
import type { Deadline } from '../port.ts';
import type { Job } from './job.ts';

/** Why a job ended before it was answered, in words; null when it was. */
export type CutShort = string | null;

/** A job on its way: queued, at a probe, or between two of them. */
export interface Pending {
  readonly job: Job;
  /** How long a probe may be silent over it. */
  readonly itemMs: number;
  readonly queuedAt: number;
  /** Settles `ended`; the first call counts. */
  readonly end: (why: CutShort) => void;
  readonly ended: Promise<CutShort>;
  /** Its last probe was given up: it goes on in the next at once. */
  fresh: boolean;
  /** Probes that died in its time. */
  crashes: number;
}

const DEFAULT_ITEM_MS = 1000;

/** `patience` multiplies how long a probe may be silent; `onExpire` is called with the reason when its time is over, or it is called off, before it ended. */
export function pend(
  job: Job,
  { deadlineMs, itemMs = DEFAULT_ITEM_MS, signal }: Deadline,
  patience: number,
  onExpire: (pending: Pending, why: string) => void,
): Pending {
  const { promise: ended, resolve } = Promise.withResolvers<CutShort>();
  const late = `the deadline of ${Math.round(deadlineMs)} ms passed`;
  // It keeps the process alive, so that nothing else about a probe has to.
  const timer = setTimeout(() => onExpire(pending, late), Math.max(0, deadlineMs));
  const onAbort = () => onExpire(pending, 'aborted');
  signal?.addEventListener('abort', onAbort, { once: true });
  const end = (why: CutShort) => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    resolve(why);
  };
  const pending: Pending = {
    job,
    itemMs: itemMs * patience,
    queuedAt: monotonicMs(),
    end,
    ended,
    fresh: false,
    crashes: 0,
  };
  return pending;
}
