import type { Collector } from './collector.ts';
import { leaveDump } from './signal/pending-dump.ts';
import { signalShim } from './signal/signal-shim.ts';

/**
 * Asks each shim of the target for its goroutines: SIGUSR1, once, behind the guards of signal/guards.ts. Brings nothing
 * itself; goroutine-dump fetches what the shim wrote. The record of it stands in the manifest under `signals`.
 */
export const goroutineSignal: Collector = {
  name: 'goroutine-signal',
  phase: 'signal',
  deadlineMs: 6000,
  targets: ['sandbox'],
  // biome-ignore lint/correctness/useYield: its evidence comes with goroutine-dump
  async *collect(capture) {
    for (const shim of capture.shims) {
      if (capture.signal.aborted) return;
      leaveDump(capture, await signalShim(capture, shim));
    }
  },
};
