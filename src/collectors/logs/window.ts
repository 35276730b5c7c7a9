import { parseSyslog } from '../../formats/logs/syslog.ts';
import type { LogContext } from '../../formats/logs/timestamp.ts';
import { contextOf, timeIn } from './log-clock.ts';

const LINE_END = 0x0a;
/** Lines without a time that are passed over to find one that has: a dump or a stack between two. */
const MAX_PASSED = 5000;

/**
 * The lines of a log that were written at `sinceMs` or later, whole lines only. Found by bisection: times in a log rise (a
 * line or two out of order do not matter), so of 16 MiB some thirty lines are looked at. A log without readable times is
 * kept as it is.
 *
 * @param sinceMs ms since 1970
 * @param modifiedMs when the file was last written to: places times that have no zone and no year
 */
export function since(
  body: Buffer,
  sinceMs: number,
  modifiedMs: number,
): { readonly body: Buffer; readonly cut: boolean } {
  const last = lastTimed(body, modifiedMs);
  if (last === null) return { body, cut: false };
  const context = contextOf(last, modifiedMs);
  // Everything before `low` is old; nothing from `high` on is.
  let low = 0;
  let high = body.length;
  while (low < high) {
    const middle = Math.max(low, lineStart(body, Math.floor((low + high) / 2)));
    const found = firstTimed(body, middle, context);
    if (found !== null && found.ms < sinceMs && found.end <= high) low = found.end;
    else if (middle > low) high = middle;
    else break;
  }
  if (low === 0) return { body, cut: false };
  // The further lines of the last old one are as old as it is.
  return { body: body.subarray(firstTimed(body, low, context)?.start ?? low), cut: true };
}

/** Of a line that is longer, the rest is kept though it is torn: it may be most of the tail. */
const TORN_BYTES = 64 * 1024;

/** Without the torn line at the start of a tail. */
export function fromLineStart(body: Buffer): Buffer {
  const end = body.subarray(0, TORN_BYTES).indexOf(LINE_END);
  return end < 0 ? body : body.subarray(end + 1);
}

/** Of a syslog file: the lines of one program, and the lines without a stamp that follow one of its. */
export function linesOf(body: Buffer, program: string): Buffer {
  // The program column is near the start; the context only places times, which are not looked at.
  const context = { year: 1970, utcOffset: 0 };
  const kept: Buffer[] = [];
  let keeping = false;
  for (let at = 0; at < body.length; ) {
    const end = lineEnd(body, at);
    const stamped = parseSyslog(body.toString('utf8', at, Math.min(end, at + 512)), context);
    if (stamped !== null) keeping = stamped.program === program;
    if (keeping) kept.push(body.subarray(at, end));
    at = end;
  }
  return Buffer.concat(kept);
}

function firstTimed(
  body: Buffer,
  from: number,
  context: LogContext,
): { readonly ms: number; readonly start: number; readonly end: number } | null {
  for (let at = from, passed = 0; at < body.length && passed < MAX_PASSED; passed += 1) {
    const end = lineEnd(body, at);
    const ms = timeIn(body.toString('utf8', at, end), context);
    if (ms !== null) return { ms, start: at, end };
    at = end;
  }
  return null;
}

function lastTimed(body: Buffer, modifiedMs: number): string | null {
  const context = { year: new Date(modifiedMs).getUTCFullYear(), utcOffset: 0 };
  for (let end = body.length, passed = 0; end > 0 && passed < MAX_PASSED; passed += 1) {
    const start = lineStart(body, end - 1);
    const line = body.toString('utf8', start, end);
    if (timeIn(line, context) !== null) return line;
    end = start;
  }
  return null;
}

/** Where the next line starts. */
function lineEnd(body: Buffer, at: number): number {
  const end = body.indexOf(LINE_END, at);
  return end < 0 ? body.length : end + 1;
}

/** Where the line starts that holds the byte at `at`. */
function lineStart(body: Buffer, at: number): number {
  return at === 0 ? 0 : body.lastIndexOf(LINE_END, at - 1) + 1;
}
