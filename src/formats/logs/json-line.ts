/**
 * Lines that are one JSON object: logrus' and zap's own output, docker's json-file (github.com/moby/moby
 * daemon/logger/jsonfilelog), and journalctl -o json (systemd.journal-fields(7)).
 */
import { type Layer, levelOf, levelOfSeverity } from './log-line.ts';
import { type LogContext, parseIsoTime } from './timestamp.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** The object that a text is; null for anything else. */
export function jsonObject(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null; // Cut or torn: the caller keeps the line as it stands.
  }
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function fieldsOf(object: JsonObject, taken: readonly string[]): Map<string, string> {
  return new Map(
    Object.entries(object)
      .filter(([key]) => !taken.includes(key))
      .map(([key, value]) => [key, asText(value)]),
  );
}

/** A stamp as text, or as seconds since 1970 (zap's default). */
function timeOfStamp(stamp: unknown, context: LogContext): number | null {
  if (typeof stamp === 'number') return Number.isFinite(stamp) ? stamp * 1000 : null;
  return typeof stamp === 'string' ? parseIsoTime(stamp, context) : null;
}

/** `{"level":"error","msg":"…","time":"…"}` of logrus, `{"level":"info","ts":…,"msg":"…"}` of zap (CNI plugins). */
function applicationLayer(object: JsonObject, context: LogContext): Layer | null {
  const { msg, message, level, time, ts } = object;
  const text = msg ?? message;
  if (typeof text !== 'string' || (level === undefined && time === undefined && ts === undefined)) return null;
  return {
    format: 'json',
    time: timeOfStamp(time ?? ts, context),
    level: typeof level === 'string' ? levelOf(level) : null,
    message: text,
    fields: fieldsOf(object, [msg === undefined ? 'message' : 'msg', 'level', time === undefined ? 'ts' : 'time']),
  };
}

/** `{"log":"…\n","stream":"stderr","time":"…"}`. */
function dockerLayer(object: JsonObject, context: LogContext): Layer | null {
  const { log, stream, time } = object;
  if (typeof log !== 'string' || (stream === undefined && time === undefined)) return null;
  return {
    format: 'docker-json',
    time: timeOfStamp(time, context),
    message: log.replace(/\r?\n$/, ''),
    fields: fieldsOf(object, ['log', 'time']),
  };
}

/** What journald gives as text, as bytes (binary or not UTF-8), or as null (over 4 kB without --all). */
export function journalText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  // Bytes as numbers; of a field that was there several times, the values, of which the first counts.
  if (value.every(byte => typeof byte === 'number')) return Buffer.from(value).toString('utf8');
  return journalText(value[0]);
}

/** Microseconds of __REALTIME_TIMESTAMP, or milliseconds of exporters that call it `timestamp`. */
function journalTime(object: JsonObject): number | null {
  const { __REALTIME_TIMESTAMP: realtime, timestamp } = object;
  if (typeof realtime === 'string' && /^\d{1,17}$/.test(realtime)) return Number(realtime) / 1000;
  return typeof timestamp === 'number' ? timestamp : null;
}

function journalLayer(object: JsonObject): Layer | null {
  if (!('MESSAGE' in object)) return null;
  const pid = Number(object['_PID'] ?? object['SYSLOG_PID'] ?? Number.NaN);
  const priority = object['PRIORITY'];
  return {
    format: 'journal',
    time: journalTime(object),
    host: journalText(object['_HOSTNAME']),
    program: journalText(object['SYSLOG_IDENTIFIER']) ?? journalText(object['_COMM']),
    pid: Number.isSafeInteger(pid) ? pid : null,
    level: priority === undefined ? null : levelOfSeverity(Number(priority)),
    message: journalText(object['MESSAGE']) ?? '',
    fields: fieldsOf(object, ['MESSAGE']),
  };
}

/** Where a line that was torn by a crash goes on with a new record: `{"log":"202{"log":"ERROR …"}`. */
function afterTear(line: string): JsonObject | null {
  const start = line.lastIndexOf('{"log":"');
  return start > 0 ? jsonObject(line.slice(start)) : null;
}

export function parseJsonLine(line: string, context: LogContext): Layer | null {
  const object = jsonObject(line);
  if (object !== null) {
    return journalLayer(object) ?? dockerLayer(object, context) ?? applicationLayer(object, context);
  }
  const torn = line.startsWith('{"log":"') ? afterTear(line) : null;
  return torn === null ? null : dockerLayer(torn, context);
}
