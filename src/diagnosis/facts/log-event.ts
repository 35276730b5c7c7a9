import type { LogLine } from '../../formats/logs/log-line.ts';
import { parseIsoTime } from '../../formats/logs/timestamp.ts';
import { cite } from '../citation.ts';
import type { LogEvent, LogKind, LogSource, TargetFacts } from '../facts.ts';
import { kindOf } from './log-kinds.ts';

const MAX_TEXT = 300;
const MAX_LINE = 4000;

/** A line that may be kept; it is parsed when it is. */
export interface RawEvent {
  readonly line: string;
  readonly number: number;
  readonly kind: LogKind;
  readonly log: LogEntry;
}

/** Which log it is, and where it lies in the bundle. */
export interface LogEntry {
  readonly source: LogSource;
  readonly entry: string;
}

/** Of containers and sandboxes. */
export const ID = /\b[0-9a-f]{64}\b/;

/** A copy: what is kept of a line must not keep the piece of the log that it was cut from. */
export function rawOf(line: string, where: Omit<RawEvent, 'line'>): RawEvent {
  return { ...where, line: copy(line.slice(0, MAX_LINE)) };
}

/** What a kept line says. @param line the same, parsed */
export function eventOf(line: LogLine, { number, kind, log }: RawEvent, target: TargetFacts): LogEvent {
  const { message, level, fields, time, raw } = line;
  const error = fields.get('error') ?? fields.get('err') ?? null;
  // Forms without quotes (logrus on a terminal) show their message only when they are parsed.
  const exact = kind === 'other' ? kindOf(message, error) : kind;
  const ids = idsIn(raw);
  return {
    ...{ source: log.source, kind: exact, time, level, ids },
    container: containerIn(ids, target),
    message: short(message),
    error: error === null ? null : short(error),
    exitedAt: exitedAtIn(raw),
    cite: cite(log.entry, number, raw),
  };
}

/** A line about a container names its sandbox too: the container is what it is about. */
function containerIn(ids: readonly string[], { ids: own, sandboxId }: TargetFacts): string | null {
  const mine = ids.filter(id => own.has(id));
  return mine.find(id => id !== sandboxId) ?? mine[0] ?? null;
}

function short(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}

function idsIn(raw: string): readonly string[] {
  return [...new Set(raw.match(/\b[0-9a-f]{64}\b/g) ?? [])];
}

/** `ExitedAt:2026-11-29 15:43:46.88 +0000 UTC` up to 1.7, `exited_at:{seconds:1732 nanos:5}` since. Null for the zero time. */
function exitedAtIn(raw: string): number | null {
  const [, seconds, nanos = '0'] = /exited_at:\s?\{\s?seconds:\s?(-?\d+)(?:\s+nanos:\s?(\d+))?/.exec(raw) ?? [];
  const ms =
    seconds !== undefined
      ? Number(seconds) * 1000 + Number(nanos) / 1e6
      : parseIsoTime(/ExitedAt:([\d-]+ [\d:.]+ [+-]\d{4} [A-Z]+)/.exec(raw)?.[1] ?? '', { year: 0, utcOffset: 0 });
  return ms === null || ms <= 0 ? null : ms;
}

/** Text of its own: a part of a string holds on to the whole. */
export function copy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
