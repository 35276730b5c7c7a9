import process from 'node:process';
import type { SignalMark } from '../../host/port.ts';
import type { Shim } from '../../sandbox/types.ts';
import type { Capture } from '../collector.ts';
import type { SignalLog } from './signal-log.ts';

/** A shim that answers one signal with a dump of some 100 kB is not asked for another one sooner. */
const WINDOW_MS = 10_000;
/** The place of the marks is in memory. Where it does not answer, the dump is worth more than the mark. */
const MARK_MS = 800;

export interface Claim {
  /** Who has signalled this shim a moment ago, or is about to; null when we may. */
  readonly taken: string | null;
  /** What became of it. Nobody waits for this. */
  leave(what: 'sent' | 'free'): void;
}

/**
 * Says in /run/stallcap that this run is about to signal a shim: two that start at once (two people, a person and a cron
 * job) would both get in each other's way at the log fifo, and stop the shim's world twice.
 */
export async function claim({ host, options }: Capture, shim: Shim, log: SignalLog): Promise<Claim> {
  const mark = (what: SignalMark['what']) =>
    host.markSignal(
      { pid: shim.pid, startTicks: shim.startTicks, by: process.pid, what, windowMs: WINDOW_MS },
      { deadlineMs: MARK_MS },
    );
  const marked = await mark(options.signalAgain ? 'again' : 'claim');
  log.step('leave word for other runs', marked.outcome === 'ours' ? 'ok' : `${marked.outcome}: ${marked.detail}`);
  return {
    taken: marked.outcome === 'taken' ? marked.detail : null,
    leave: what => void mark(what),
  };
}
