import type { Evidence } from '../bundle/evidence.ts';
import type { Capture, Collector } from '../collectors/collector.ts';
import type { Host } from '../host/port.ts';

/** Evidence with the moment at which it was got. */
export interface Timed {
  readonly evidence: Evidence;
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** How a collector ended, when it did not simply come to its end. */
export interface Unfinished {
  readonly outcome: 'timeout' | 'error';
  readonly detail: string;
}

/** Evidence as large as this is packed before more is asked for: a node in trouble is no place for several logs in memory. */
const LARGE_BYTES = 1 << 20;

/** After its time is over a collector may still yield what it has, for this long. */
const GRACE_MS = 300;

/**
 * Runs one collector and hands on each piece of evidence as it comes. Never throws and never waits beyond the
 * collector's signal plus a grace: a generator that does not return is left behind.
 *
 * @returns null when the collector came to its end
 */
export async function runCollector(
  collector: Collector,
  capture: Capture,
  host: Pick<Host, 'now'>,
  take: (timed: Timed) => unknown,
): Promise<Unfinished | null> {
  const iterator = collector.collect(capture)[Symbol.asyncIterator]();
  const over = afterAbort(capture.signal, GRACE_MS);
  const leave = (): Unfinished => {
    iterator.return?.()?.catch(() => undefined);
    return { outcome: 'timeout', detail: `gave nothing more by its deadline (${reasonOf(capture.signal)})` };
  };
  let since = host.now().offsetMs;
  try {
    for (;;) {
      const step = await Promise.race([iterator.next(), over.promise]);
      if (step === 'over') return leave();
      if (step.done === true) return null;
      const now = host.now().offsetMs;
      const at = step.value.at ?? { offsetMs: since, durationMs: now - since };
      const taken = take({ evidence: step.value, ...at });
      const large = step.value.body.length >= LARGE_BYTES;
      if (large && (await Promise.race([taken, over.promise])) === 'over') return leave();
      since = host.now().offsetMs;
    }
  } catch (error) {
    return { outcome: 'error', detail: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    over.cancel();
  }
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
}

function afterAbort(signal: AbortSignal, graceMs: number): { promise: Promise<'over'>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  let listener: () => void = () => undefined;
  const promise = new Promise<'over'>(resolve => {
    listener = () => {
      timer = setTimeout(resolve, graceMs, 'over' as const);
    };
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  });
  return {
    promise,
    cancel() {
      clearTimeout(timer);
      signal.removeEventListener('abort', listener);
    },
  };
}
