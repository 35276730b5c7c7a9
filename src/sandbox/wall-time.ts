import { isoTime } from '../formats/iso-time.ts';
import type { Host } from '../host/port.ts';

/** Wall clock, ISO 8601 with ms, of a moment on the run's own clock. */
export function wallTime({ startedAt }: Pick<Host, 'startedAt'>, offsetMs: number): string {
  return new Date(Date.parse(startedAt) + offsetMs).toISOString();
}

/** The same of a file's time, ns since 1970; null for one that is not known. */
export function timeOfNs(ns: string | null | undefined): string | null {
  const ms = ns == null ? Number.NaN : Number(BigInt(ns) / 1_000_000n);
  return isoTime(ms);
}
