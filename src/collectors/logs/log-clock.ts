import { parseLogLine } from '../../formats/logs/parse-log-line.ts';
import type { LogContext } from '../../formats/logs/timestamp.ts';

const MINUTE_MS = 60_000;
/** All time zones are whole quarters of an hour, from -12:00 to +14:00. */
const QUARTER_HOUR_MS = 15 * MINUTE_MS;
const WIDEST_MS = 14 * 60 * MINUTE_MS;
/** A last line further from its file's modification time than this says nothing about the zone. */
const MAX_LAG_MS = 7 * MINUTE_MS;

/**
 * Year and zone of the lines of a log that tell neither (syslog, klog). The last line was written when the file was last
 * modified, so the two together tell both, and the C library need not be asked for a zone file on the node's disk. Where
 * they do not fit, lines are taken for as late as they can be, so that none is taken for too old.
 *
 * @param lastLine the last line that has a time
 * @param modifiedMs when the file was last written to, ms since 1970
 */
export function contextOf(lastLine: string, modifiedMs: number): LogContext {
  const inUtc = new Date(modifiedMs).getUTCFullYear();
  let best = { year: inUtc, lag: Number.POSITIVE_INFINITY };
  // Around the new year the node's calendar and UTC's differ.
  for (const year of [inUtc, inUtc - 1, inUtc + 1]) {
    const ms = timeIn(lastLine, { year, utcOffset: 0 });
    if (ms !== null && Math.abs(ms - modifiedMs) < Math.abs(best.lag)) best = { year, lag: ms - modifiedMs };
  }
  const zone = Math.round(best.lag / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
  const fits = Math.abs(zone) <= WIDEST_MS && Math.abs(best.lag - zone) <= MAX_LAG_MS;
  return { year: best.year, utcOffset: (fits ? zone : -WIDEST_MS) / MINUTE_MS, notAfter: modifiedMs };
}

/** Longer lines are taken for lines without a time. */
const MAX_LINE = 64 * 1024;

/** ms since 1970; null for a line without a time: the second line of a message, a stack. */
export function timeIn(line: string, context: LogContext): number | null {
  return line.length > MAX_LINE ? null : parseLogLine(line, context).time;
}
