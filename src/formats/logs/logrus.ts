/**
 * logrus' TextFormatter, bare (`time="…" level=info msg="…" id=…`) and on a terminal (`INFO[0000] … id=…`):
 * github.com/sirupsen/logrus text_formatter.go. What containerd, its shims, dockerd, runc and crictl write.
 */
import { closingQuote, unquoteGo, unquoteGoLoosely } from '../go-quote.ts';
import { type Layer, levelOf } from './log-line.ts';
import { type LogContext, parseIsoTime } from './timestamp.ts';

/** A key and its `=`. Keys of logrus fields are Go identifiers or dotted and dashed names; 64 is far above any. */
const KEY = /([A-Za-z_][\w.\-/@]{0,63})=/y;

interface Pair {
  readonly key: string;
  readonly value: string;
  readonly end: number;
}

function keyAt(text: string, at: number): string | null {
  KEY.lastIndex = at;
  return KEY.exec(text)?.[1] ?? null;
}

/** Whether a quoted value may end before `at`: the line ends, or a blank and the next key follow. */
function valueEndsAt(text: string, at: number): boolean {
  return at >= text.length || (text[at] === ' ' && keyAt(text, at + 1) !== null);
}

/**
 * `key=value` at `at`. A quoted value normally ends at its first unescaped quote. containerd 1.2 and 1.3 did not escape
 * quotes inside (`msg="StopPodSandbox for "4f…""`): there it ends at the first quote after which the line ends or goes on
 * with a key. A quote that never ends takes the rest of the line: it was cut.
 */
function pairAt(text: string, at: number): Pair | null {
  const key = keyAt(text, at);
  if (key === null) return null;
  const from = at + key.length + 1;
  if (text[from] !== '"') {
    const blank = text.indexOf(' ', from);
    const end = blank < 0 ? text.length : blank;
    return { key, value: text.slice(from, end), end };
  }
  const first = closingQuote(text, from + 1);
  if (first >= 0 && valueEndsAt(text, first + 1)) {
    const inner = text.slice(from + 1, first);
    return { key, value: unquoteGo(inner) ?? unquoteGoLoosely(inner), end: first + 1 };
  }
  for (let quote = first; quote >= 0; quote = text.indexOf('"', quote + 1)) {
    if (valueEndsAt(text, quote + 1)) return { key, value: text.slice(from + 1, quote), end: quote + 1 };
  }
  return { key, value: unquoteGoLoosely(text.slice(from + 1)), end: text.length };
}

/** The pairs from `at` to the end of the text, or where in it something else stands. */
function pairsFrom(text: string, at: number): { readonly pairs: readonly Pair[]; readonly stoppedAt: number } {
  const pairs: Pair[] = [];
  let position = at;
  for (;;) {
    while (text[position] === ' ') position += 1;
    const pair = pairAt(text, position);
    if (pair === null) return { pairs, stoppedAt: position };
    pairs.push(pair);
    position = pair.end;
  }
}

/** Null for a line that does not start with `time=` or `level=`. What stands between or after the pairs goes to field ``. */
export function parseLogrusText(text: string, context: LogContext): Layer | null {
  const line = text.trimEnd();
  if (!line.startsWith('time=') && !line.startsWith('level=')) return null;
  const { pairs, stoppedAt } = pairsFrom(line, 0);
  const fields = new Map<string, string>();
  for (const { key, value } of pairs) if (!fields.has(key)) fields.set(key, value);
  const rest = line.slice(stoppedAt);
  if (rest !== '') fields.set('', rest);
  const time = fields.get('time');
  const level = fields.get('level');
  const message = fields.get('msg') ?? '';
  for (const key of ['time', 'level', 'msg']) fields.delete(key);
  return {
    format: 'logrus',
    time: time === undefined ? null : parseIsoTime(time, context),
    level: level === undefined ? null : levelOf(level),
    message,
    fields,
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that logrus puts around level and keys
const COLOURS = /\x1b\[[0-9;]{0,10}m/g;
const TTY = /^(TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)\[([^\]]{4,40})\] ?/;

/** Messages are padded to this many characters, so the fields cannot start before. */
const PADDED = 44;

/** `INFO[2019-04-11T10:39:37.41-07:00] shim disconnected      id=…`; `[0079]` counts seconds since the program started: no time then. */
export function parseLogrusTty(line: string, context: LogContext): Layer | null {
  const plain = (line.includes('\x1b') ? line.replace(COLOURS, '') : line).trimEnd();
  const [head, level = '', stamp = ''] = TTY.exec(plain) ?? [];
  if (head === undefined) return null;
  const rest = plain.slice(head.length);
  let fieldsAt = rest.length;
  let pairs: readonly Pair[] = [];
  // The fields are the longest end of the line that is nothing but pairs. A try that stops at some place rules out all before it.
  for (let at = rest.indexOf(' ', PADDED); at >= 0; at = rest.indexOf(' ', at)) {
    const found = pairsFrom(rest, at);
    if (found.stoppedAt >= rest.length) {
      fieldsAt = at;
      pairs = found.pairs;
      break;
    }
    at = Math.max(at + 1, found.stoppedAt);
  }
  const fields = new Map(pairs.map(({ key, value }) => [key, value]));
  if (/^\d{4,}$/.test(stamp)) fields.set('secondsSinceStart', String(Number(stamp)));
  return {
    format: 'logrus-tty',
    time: parseIsoTime(stamp, context),
    level: levelOf(level),
    message: rest.slice(0, fieldsAt).trimEnd(),
    fields,
  };
}
