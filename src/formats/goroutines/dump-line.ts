import type { Layer } from '../logs/log-line.ts';
import type { LogContext } from '../logs/timestamp.ts';

/** One line of a log without its envelope. */
export interface DumpLine {
  readonly content: string;
  /** Who wrote it, as the envelope says; pieces of one long line have the same. Empty without an envelope. */
  readonly origin: string;
  /** A program that logs JSON itself: time and fields of the line; its content may have real line ends. */
  readonly layer: Layer | null;
  /** From 1. */
  readonly number: number;
  /** Number of the last line of the text that is a piece of it. */
  readonly end: number;
}

/** `time="…"` of logrus carries its zone, and envelopes are looked at for their origin alone. */
export const NO_CONTEXT: LogContext = { year: 1970, utcOffset: 0 };
