/** Times as logs write them, to ms since 1970 (with a fraction where the log has one). */

/** What a log line does not say itself. */
export interface LogContext {
  /** Of lines without one (`Oct 30 12:25:48`). */
  readonly year: number;
  /** Minutes east of UTC, of lines without a zone. */
  readonly utcOffset: number;
  /** When the log was read. A time more than a day later belongs to the year before. */
  readonly notAfter?: number;
  /** When the kernel started: what `[387120.141130]` counts from. */
  readonly bootedAt?: number;
}

const MONTHS: Readonly<Record<string, number>> = {
  Jan: 0,
  Feb: 1,
  Mar: 2,
  Apr: 3,
  May: 4,
  Jun: 5,
  Jul: 6,
  Aug: 7,
  Sep: 8,
  Oct: 9,
  Nov: 10,
  Dec: 11,
};

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A day and time of a calendar, in the zone that is `offset` minutes east of UTC; null for one that does not exist. */
function timeOf(
  { year, month, day }: { year: number; month: number; day: number },
  clock: string,
  offset: number,
): number | null {
  const [, hours, minutes, seconds, fraction = ''] = /^(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$/.exec(clock) ?? [];
  const midnight = Date.UTC(year, month, day);
  const there = new Date(midnight);
  if (hours === undefined || there.getUTCMonth() !== month || there.getUTCDate() !== day) return null;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  const ms =
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(`0.${fraction || 0}`) * 1000;
  return midnight + ms - offset * MINUTE_MS;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?: ?(Z|UTC|[+-]\d\d:?\d\d))?(?: [A-Z]{3,4})?(?: m=[+-][\d.]+)?$/;

/** `+08:00`, `-0700`, `Z` in minutes. */
function offsetOf(zone: string): number {
  if (zone === 'Z' || zone === 'UTC') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2)));
}

/**
 * RFC 3339 with 0 to 9 digits (`2024-06-26T07:44:44.559390176Z`, `+0000` too), and Go's Time.String
 * (`2019-05-16 22:04:19.073921379 +0000 UTC`). Without a zone the context's counts.
 */
export function parseIsoTime(text: string, context: LogContext): number | null {
  const [, year, month, day, clock = '', zone] = ISO.exec(text) ?? [];
  if (year === undefined) return null;
  const date = { year: Number(year), month: Number(month) - 1, day: Number(day) };
  return timeOf(date, clock, zone === undefined ? context.utcOffset : offsetOf(zone));
}

/** A date without a year: that of the context, or the one before when the time would lie after `notAfter`. */
export function timeWithoutYear(month: number, day: number, clock: string, context: LogContext): number | null {
  const time = timeOf({ year: context.year, month, day }, clock, context.utcOffset);
  if (time !== null && (context.notAfter === undefined || time <= context.notAfter + DAY_MS)) return time;
  const before = timeOf({ year: context.year - 1, month, day }, clock, context.utcOffset);
  return context.notAfter === undefined ? time : before;
}

/** `Oct 30 12:25:48`, `Apr  8 07:44:29`, `Oct 30 12:25:48.123456`: RFC 3164 and journalctl's short formats. */
export function parseShortTime(text: string, context: LogContext): number | null {
  const [, name = '', day, clock = ''] = /^([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\S+)$/.exec(text) ?? [];
  const month = MONTHS[name];
  return month === undefined ? null : timeWithoutYear(month, Number(day), clock, context);
}

/** `Wed Feb 24 00:50:27 2021` of `dmesg -T`; the week day may be in any language, the month must be English. */
export function parseCtime(text: string, context: LogContext): number | null {
  const [, name = '', day, clock = '', year] = /^\S{1,12} (\S{3}) +(\d{1,2}) (\S+) (\d{4})$/.exec(text) ?? [];
  const month = MONTHS[name];
  if (month === undefined) return null;
  return timeOf({ year: Number(year), month, day: Number(day) }, clock, context.utcOffset);
}
