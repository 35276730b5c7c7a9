/**
 * Goroutine dumps inside of logs. A shim logs its dump as one logrus line, `msg="=== BEGIN goroutine stack dump ===\n…"`
 * with Go's escapes (containerd pkg/shim/shim.go dumpStacks); containerd likewise, also as JSON. On the way that line may have
 * been cut into several (journald after 48 KiB), each with a prefix of its own, quoted once more, or unfolded to real lines.
 */
import { closingQuote, unquoteGoLoosely } from '../go-quote.ts';
import { parseLogrusText } from '../logs/logrus.ts';
import { type Completeness, completenessOf } from './completeness.ts';
import { type DumpLine, NO_CONTEXT } from './dump-line.ts';
import { linesOfLog } from './log-lines.ts';
import { type GoroutineText, parseGoroutines } from './parse-goroutines.ts';

export const BEGIN = '=== BEGIN goroutine stack dump ===';
export const END = '=== END goroutine stack dump ===';

export interface GoroutineDump extends GoroutineText, Completeness {
  /** With real line ends, both markers included as far as they are there. */
  readonly text: string;
  /** `time=` of the log line, ms since 1970. */
  readonly time: number | null;
  /** `pid=` of the log line: the shim's. Null for containerd's own dump, and where the line was cut before it. */
  readonly pid: number | null;
  /** The other fields of the line (`namespace`, `path`, `runtime`). */
  readonly fields: ReadonlyMap<string, string>;
  /** Line of the log in which it begins, from 1. */
  readonly logLine: number;
  /** Line in which its last piece ends, as far as it was found. */
  readonly logEnd: number;
}

/** A text and what stood around it in its log line. */
interface Found {
  readonly text: string;
  /** The log line without the dump: `time="…" level=info msg="" namespace=k8s.io pid=2623`. */
  readonly around: string;
  /** Indexes of the further lines that belong to it. */
  readonly taken: readonly number[];
}

/** A line that some program began, and no rest of a cut one. */
const BEGINS_ENTRY = /^(?:time="|level=|\{"|[IWEF]\d{4} \d\d:|-- )/;

/** Envelopes that quoted the line again: docker's JSON in a logrus line is the most that makes sense. */
const MAX_NESTING = 3;

/** Whether the text ends in the middle of an escape: an odd run of backslashes, counted back to `from`. */
function endsInBackslash(text: string, from: number): boolean {
  let slashes = 0;
  while (text.length - slashes > from && text[text.length - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}

/** How many lines of others are looked past for the rest of a line. */
const LOOK_AHEAD = 2000;

/** The lines after `index` that the same program wrote, up to the next entry that it began. */
function* linesAfter(lines: readonly DumpLine[], index: number): Generator<{ content: string; at: number }> {
  const origin = lines[index]?.origin;
  for (let at = index + 1, foreign = 0; at < lines.length && foreign < LOOK_AHEAD; at += 1) {
    const line = lines[at] as DumpLine;
    if (line.origin !== origin) {
      foreign += 1;
      continue;
    }
    if (BEGINS_ENTRY.test(line.content) || line.content.includes(BEGIN)) return;
    yield { content: line.content, at };
  }
}

/** Whether this can be what follows the closing quote: nothing, or fields and no more. */
function areFields(behind: string): boolean {
  return parseLogrusText(`level=info msg=""${behind}`, NO_CONTEXT)?.fields?.has('') === false;
}

/** Line `index` with its cut-off rest: next lines of the same program, until the quote is closed, and on while they are its fields. */
function rejoin(lines: readonly DumpLine[], index: number, from: number): { line: string; taken: readonly number[] } {
  const first = lines[index] as DumpLine;
  const pieces = [first.content];
  const taken: number[] = [];
  const closing = closingQuote(first.content, from);
  let behind = closing < 0 ? null : first.content.slice(closing + 1);
  // A backslash at the very end of a piece belongs to the character that the next one starts with.
  let carried = endsInBackslash(first.content, from);
  for (const { content, at } of linesAfter(lines, index)) {
    if (behind === null) {
      const start = carried ? 1 : 0;
      const quote = closingQuote(content, start);
      if (quote >= 0) behind = content.slice(quote + 1);
      if (content !== '') carried = endsInBackslash(content, start);
    } else if (content !== '' && areFields(behind + content)) {
      behind += content;
    } else {
      break;
    }
    pieces.push(content);
    taken.push(at);
  }
  return { line: pieces.join(''), taken };
}

/** `head` ends with `msg="`: its logrus line may stand behind a prefix in no known form, or inside of another quoted text. */
function aroundOf(head: string, rest: string): string {
  return `${head.slice(Math.max(0, head.lastIndexOf('time="')))}"${rest}`;
}

/** The usual form: one quoted text. */
function quotedDump(lines: readonly DumpLine[], index: number, begin: number): Found {
  const { line, taken } = rejoin(lines, index, begin);
  let text = line;
  // Each further level of quoting doubles the backslash before the n that follows the marker.
  for (let level = 0; level < MAX_NESTING; level += 1) {
    if (!text.startsWith('\\\\', text.indexOf(BEGIN) + BEGIN.length)) break;
    text = unquoteGoLoosely(text);
  }
  const from = text.indexOf(BEGIN);
  const closing = closingQuote(text, from);
  // A cut in the middle of an escape leaves a backslash that means nothing.
  const cutAt = endsInBackslash(text, from) ? text.length - 1 : text.length;
  const quoted = text.slice(from, closing < 0 ? cutAt : closing);
  return {
    text: unquoteGoLoosely(quoted),
    around: aroundOf(text.slice(0, from), closing < 0 ? '' : text.slice(closing + 1)),
    taken,
  };
}

/** Real line ends, or none at all: the text goes on in the next lines of the same program, to the END marker or its next entry. */
function unfoldedDump(lines: readonly DumpLine[], index: number, begin: number): Found {
  const first = lines[index] as DumpLine;
  const pieces = [first.content.slice(begin)];
  const taken: number[] = [];
  let ended = pieces[0]?.includes(END) === true;
  for (const { content, at } of linesAfter(lines, index)) {
    if (ended) break;
    pieces.push(content);
    taken.push(at);
    ended = content.includes(END);
  }
  const text = pieces.join('\n');
  const end = text.indexOf(END);
  const behind = end < 0 ? '' : text.slice(end + END.length).replace(/^"/, '');
  return { text, around: aroundOf(first.content.slice(0, begin), behind), taken };
}

/** Up to and with the END marker: in a log that two readers shared, other lines may follow in the same quotes. */
function cutBehindEnd(text: string): { text: string; ended: boolean } {
  const end = text.indexOf(END);
  return end < 0 ? { text, ended: false } : { text: text.slice(0, end + END.length), ended: true };
}

const wholeNumber = (text: string | undefined) => (text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null);

function dumpOf(found: Found, line: DumpLine, lines: readonly DumpLine[]): GoroutineDump {
  const { text, ended } = cutBehindEnd(found.text);
  const { goroutines, unknown } = parseGoroutines(text);
  const logrus = line.layer ?? parseLogrusText(found.around, NO_CONTEXT);
  const fields = logrus?.fields ?? new Map<string, string>();
  return {
    text,
    goroutines,
    unknown: unknown.filter(each => each !== BEGIN && each !== END),
    ...completenessOf(goroutines, ended ? 'seen' : 'missing'),
    time: logrus?.time ?? null,
    pid: wholeNumber(fields.get('pid')),
    fields,
    logLine: line.number,
    logEnd: found.taken.reduce((end, index) => Math.max(end, lines[index]?.end ?? 0), line.end),
  };
}

/**
 * Every dump in the text of a log, in its order: of shims and of containerd, whole or cut. The log may be a file, what was drained
 * from a shim's fifo, or the output of `journalctl` (cat, short, json). Linear in its length.
 */
export function findDumps(log: string): readonly GoroutineDump[] {
  if (!log.includes(BEGIN)) return [];
  const lines = linesOfLog(log);
  const dumps: GoroutineDump[] = [];
  const taken = new Set<number>();
  for (const [index, line] of lines.entries()) {
    const begin = taken.has(index) ? -1 : line.content.indexOf(BEGIN);
    if (begin < 0) continue;
    const isQuoted = line.content[begin + BEGIN.length] === '\\';
    const found = isQuoted ? quotedDump(lines, index, begin) : unfoldedDump(lines, index, begin);
    for (const each of found.taken) taken.add(each);
    dumps.push(dumpOf(found, line, lines));
  }
  return dumps;
}
