import type { Outcome } from '../host/port.ts';

/** One file of the bundle, with how it was got. */
export interface Evidence {
  /** Relative, '/'-separated, no '..': 'shim/threads-1.txt'. */
  readonly path: string;
  /** Where it came from: '/proc/2623/task/<tid>/{stat,wchan,syscall,stack}', 'crictl inspectp 4f…'. */
  readonly source: string;
  readonly outcome: Outcome;
  /** Of a log (`logs/…`) handed over: its memory is taken back when it is packed. */
  readonly body: Buffer;
  /** Why it is not `ok`. */
  readonly detail?: string;
  /** When it was read, ms since the start of the process; without it the engine's own times stand. */
  readonly at?: { readonly offsetMs: number; readonly durationMs: number };
}
