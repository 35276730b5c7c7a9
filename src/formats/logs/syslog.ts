/**
 * Envelopes of one line: RFC 3164 files (/var/log/messages, /var/log/syslog), and journalctl's short, short-precise,
 * short-iso, short-full and short-unix (systemd src/shared/logs-show.c).
 */
import { type Layer, type LogLevel, levelOf } from './log-line.ts';
import { type LogContext, parseIsoTime, parseShortTime } from './timestamp.ts';

/** Each with the time as its first group. A number before the line comes from a paste with line numbers. */
const STAMPS: readonly {
  form: RegExp;
  format: Layer['format'];
  time(text: string, context: LogContext): number | null;
}[] = [
  {
    form: /^(?:\d{1,9} )?([A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d(?:\.\d{1,9})?) /,
    format: 'syslog',
    time: parseShortTime,
  },
  {
    form: /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?) /,
    format: 'syslog',
    time: parseIsoTime,
  },
  {
    form: /^[A-Z][a-z]{2} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?(?: UTC)?) (?:[A-Z]{3,5} )?/,
    format: 'journal',
    time: parseIsoTime,
  },
  { form: /^(\d{9,10}\.\d{6}) /, format: 'journal', time: text => Number(text) * 1000 },
];

const PROGRAM = /^([^\s:[\]]{1,100})(?:\[(\d{1,10}|-)\])?:$/;
const PROGRAM_BEFORE_LEVEL = /^([^\s:[\]]{1,100})\[(\d{1,10}|-)\]$/;

interface Origin {
  readonly host: string | null;
  readonly program: string | null;
  readonly pid: number | null;
  readonly level: LogLevel | null;
  readonly message: string;
}

/** `<host> containerd[15506]: …`, `containerd[15506]: …` (host cut off by a paste), `<host> kubelet: …`, `<host> kernel[-] err: …`. */
function originOf(text: string): Origin {
  let from = 0;
  let host: string | null = null;
  for (let words = 0; words < 2; words += 1) {
    const blank = text.indexOf(' ', from);
    const end = blank < 0 ? text.length : blank;
    const word = text.slice(from, Math.min(end, from + 256));
    const [, program, pid] = PROGRAM.exec(word) ?? [];
    if (program !== undefined) {
      return { host, program, pid: pidOf(pid), level: null, message: text.slice(end + 1) };
    }
    const [, before, beforePid] = PROGRAM_BEFORE_LEVEL.exec(word) ?? [];
    const level = /^([a-z]{3,8}): ?/.exec(text.slice(end + 1, end + 12));
    if (before !== undefined && level?.[1] !== undefined) {
      const message = text.slice(end + 1 + level[0].length);
      return { host, program: before, pid: pidOf(beforePid), level: levelOf(level[1]), message };
    }
    host = word;
    from = end + 1;
  }
  return { host: null, program: null, pid: null, level: null, message: text };
}

const pidOf = (text: string | undefined) => (text === undefined || text === '-' ? null : Number(text));

/** Null for a line that starts with no stamp; without a program after the stamp everything is the message. */
export function parseSyslog(line: string, context: LogContext): Layer | null {
  // journalctl prints `kernel: …` without a stamp for `-o cat` with an identifier; pastes of the field have it.
  if (line.startsWith('kernel: ')) return { format: 'syslog', program: 'kernel', message: line.slice(8) };
  for (const { form, format, time } of STAMPS) {
    const [head, stamp] = form.exec(line) ?? [];
    if (head === undefined || stamp === undefined) continue;
    return { ...originOf(line.slice(head.length)), format, time: time(stamp, context) };
  }
  return null;
}
