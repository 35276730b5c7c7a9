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

/** Two of a kind within this are one. */
const SAME_MS = 50;

/**
 * Turns the first SIGINT, SIGTERM or SIGHUP (a dropped SSH session) into an abort, so that what is there is sealed.
 * After a moment (a terminal and a parent may both pass one Ctrl-C on) SIGINT and SIGTERM have their default action again:
 * the second one ends the process at once, whatever it is busy with. A second SIGHUP does not: a closing terminal may send
 * several.
 */
export function watchForInterruption(): Interruption {
  const controller = new AbortController();
  let cause: Stop | null = null;
  let atMs: number | null = null;
  const onSignal = (name: Stop): void => {
    if (cause === null) {
      cause = name;
      atMs = offsetMs();
      setTimeout(() => (['SIGINT', 'SIGTERM'] as const).forEach(giveBack), SAME_MS).unref();
      controller.abort(name);
    }
  };
  const giveBack = (stop: Stop): void => void process.off(stop, onSignal);
  const stops: readonly Stop[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const stop of stops) process.on(stop, onSignal);
  return {
    signal: controller.signal,
    get cause() {
      return cause;
    },
    get atMs() {
      return atMs;
    },
    release: () => stops.forEach(giveBack),
  };
}
