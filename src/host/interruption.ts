import process from 'node:process';
import { offsetMs } from './clock.ts';

export type Stop = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Interruption {
  /** Aborts when the first of the signals arrives; the reason is the signal's name. */
  readonly signal: AbortSignal;
  readonly cause: Stop | null;
  /** When it arrived, ms since the start of the process; null before. */
  readonly atMs: number | null;
  /** Gives the signals back to their default action. */
  release(): void;
}

/**
 * Turns the first SIGINT, SIGTERM or SIGHUP (a dropped SSH session) into an abort, so that what is there is sealed.
 * A second SIGINT or SIGTERM gets the default action: the process ends at once. A second SIGHUP does not: a closing
 * terminal may send several.
 */
export function watchForInterruption(): Interruption {
  const controller = new AbortController();
  let cause: Stop | null = null;
  let atMs: number | null = null;
  const onSignal = (name: Stop): void => {
    if (cause === null) {
      cause = name;
      atMs = offsetMs();
      controller.abort(name);
    } else if (name !== 'SIGHUP') {
      release();
      process.kill(process.pid, name);
    }
  };
  const stops: readonly Stop[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  function release(): void {
    for (const stop of stops) process.off(stop, onSignal);
  }
  for (const stop of stops) process.on(stop, onSignal);
  return {
    signal: controller.signal,
    get cause() {
      return cause;
    },
    get atMs() {
      return atMs;
    },
    release,
  };
}
