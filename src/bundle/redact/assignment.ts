import { kindOfName, NAME_WORD, type NamedKind } from './names.ts';
import { isPlaceholder } from './placeholder.ts';
import { closingQuote, lengthOf, type Quote, quoteAt, quoteBefore } from './quotes.ts';
import { type Detector, NOTHING, type Span } from './span.ts';

/**
 * A value beside a secret's name: `--password=x`, `--password x`, `DB_PASSWORD=x`, `"password": "x"`, `password: x`,
 * `["--token", "x"]`, `?access_token=x`; in plain text, in quotes, in quoted quotes, between the NULs of a cmdline.
 */
export const assignment: Detector = {
  triggers: ['pas', 'pwd', 'sec', 'tok', 'cre', 'key'],
  head: NAME_WORD,
  find(text, at, end) {
    const name = nameAround(text, at, end);
    const kind = kindOfName(text.slice(name.from, at), text.slice(at, end), text.slice(end, name.to));
    if (kind === null) return NOTHING;
    const value = valueBeside(text, name, kind);
    if (value === null || isPlaceholder(text.slice(value.from, value.to), kind)) return NOTHING;
    return [{ ...value, kind }];
  },
};

interface Name {
  readonly from: number;
  readonly to: number;
  /** It starts with dashes: the value may follow as the next argument. */
  readonly isFlag: boolean;
  /** What it is enclosed in: the value goes to its end. */
  readonly within: Quote | 'nul' | null;
}

const LONGEST_NAME = 64;
const LONGEST_REST = 40;

function isNameChar(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d;
}

function nameAround(text: string, at: number, end: number): Name {
  let from = at;
  while (from > 0 && at - from < LONGEST_NAME && (isNameChar(text.charCodeAt(from - 1)) || text[from - 1] === '.'))
    from--;
  let to = end;
  while (to - end < LONGEST_REST && isNameChar(text.charCodeAt(to))) to++;
  // The n of a line end written as `\n` is not the name's.
  if (from < at && text[from - 1] === '\\' && /[nrt]/.test(text[from] as string)) from++;
  const betweenNuls = text[from - 1] === '\0' || (from === 0 && text.slice(to, to + 4096).includes('\0'));
  return { from, to, isFlag: text[from] === '-', within: betweenNuls ? 'nul' : enclosing(text, from) };
}

/** `"DB_PASSWORD=a b"` is one argument in quotes; `msg="token=a failed"` is a sentence that begins with one. */
function enclosing(text: string, from: number): Quote | null {
  const quote = quoteBefore(text, from);
  return quote === null || text[from - lengthOf(quote) - 1] === '=' ? null : quote;
}

type Value = Pick<Span, 'from' | 'to' | 'quote'>;

/** Blanks but no line end; what JSON, TOML, YAML, shells and logs put between a name and its value. */
const SEPARATOR = /=(?![=>])|[ \t]{1,3}=(?![=>])[ \t]{0,3}|[ \t]{0,3}:(?![:=]|\/\/)[ \t]{0,3}/y;
/** Between two arguments: blanks, a NUL, or the comma between two strings of a list, pretty-printed or not. */
const NEXT_ARGUMENT = /(\\*["'])\s{0,3},\s{0,40}(\\*["'])|[ \t]{1,8}|\0/y;

function valueBeside(text: string, name: Name, kind: NamedKind): Value | null {
  const keyEnd = closesName(text, name) ? name.to + lengthOf(name.within as Quote) : name.to;
  SEPARATOR.lastIndex = keyEnd;
  const separator = SEPARATOR.exec(text)?.[0];
  if (separator === undefined) return name.isFlag ? nextArgument(text, name) : nextField(text, name);
  const from = keyEnd + separator.length;
  const isKey = keyEnd > name.to;
  if (isKey) return quotedAt(text, from) ?? numberInJson(text, from);
  if (separator.includes(':') && !name.isFlag && !startsField(text, name, kind)) return null;
  const quoted = quotedAt(text, from);
  if (quoted !== null) return quoted;
  if (name.within !== null && separator === '=') return { from, to: endOf(text, from, name.within) };
  return bare(text, from, name);
}

/** `"password": …`: the name is all that stands in its quotes. */
function closesName(text: string, name: Name): boolean {
  if (name.within === null || name.within === 'nul') return false;
  const closing = quoteAt(text, name.to);
  return closing !== null && closing.char === name.within.char && closing.level === name.within.level;
}

function nextArgument(text: string, name: Name): Value | null {
  NEXT_ARGUMENT.lastIndex = name.to;
  const between = NEXT_ARGUMENT.exec(text);
  if (between === null) return null;
  const from = name.to + between[0].length;
  if (text[from] === '-') return null;
  if (between[2] !== undefined) {
    const opened = quoteBefore(text, from);
    return opened === null ? null : { from, to: closingQuote(text, from, opened) };
  }
  if (between[0] === '\0') return { from, to: endOf(text, from, 'nul') };
  return quotedAt(text, from) ?? bare(text, from, name);
}

/** `{"name": "DB_PASSWORD", "value": "x"}`, and the same in YAML. */
const NEXT_FIELD =
  /\\*"\s{0,40},\s{0,40}\\*"value\\*"\s{0,4}:\s{0,4}(?=\\*")|[ \t]{0,8}\r?\n[ \t]{1,40}value:[ \t]{1,4}/iy;

function nextField(text: string, name: Name): Value | null {
  NEXT_FIELD.lastIndex = name.to;
  if (NEXT_FIELD.exec(text) === null) return null;
  const from = NEXT_FIELD.lastIndex;
  return quotedAt(text, from) ?? bare(text, from, name);
}

function quotedAt(text: string, at: number): Value | null {
  const opened = quoteAt(text, at);
  if (opened === null) return null;
  const from = at + lengthOf(opened);
  return { from, to: closingQuote(text, from, opened) };
}

/** A number where JSON has a string; objects and lists are looked into, not taken whole. */
function numberInJson(text: string, from: number): Value | null {
  const pattern = /-?\d[\d.eE+-]{0,40}/y;
  pattern.lastIndex = from;
  const value = pattern.exec(text)?.[0];
  return value === undefined ? null : { from, to: from + value.length, quote: true };
}

/**
 * `token: x` is a value where the name starts a line or a field; in the middle of a sentence it is "invalid token:
 * signature is expired". For passwords that is not asked: a word too many is better.
 */
function startsField(text: string, name: Name, kind: NamedKind): boolean {
  const named = text.slice(name.from, name.to);
  if (kind === 'password') return named.toLowerCase() !== 'pass';
  if (name.within !== null) return true;
  return /(?:^|[\n{(,;[]|\\n|- )[ \t]{0,40}$/.test(text.slice(Math.max(0, name.from - 48), name.from));
}

function endOf(text: string, from: number, within: Quote | 'nul'): number {
  if (within !== 'nul') return closingQuote(text, from, within);
  const nul = text.indexOf('\0', from);
  return nul === -1 ? text.length : nul;
}

/** Up to a blank or a quote, or a line end written as `\n`; in a query up to the next parameter. */
function bare(text: string, from: number, name: Name): Value | null {
  const before = text[name.from - 1];
  const to = endOfBare(text, from, before === '?' || before === '&');
  if (to === from) return null;
  // What closes a sentence, a list or a call is left standing.
  const closing = /[,;)\]}>]{1,8}$/.exec(text.slice(Math.max(from, to - 8), to));
  return { from, to: closing === null || text[from] === '[' ? to : to - closing[0].length };
}

const BARE_END = new Set([...' \t\r\n\f\v\0"\'`'].map(char => char.charCodeAt(0)));
const BACKSLASH = '\\'.charCodeAt(0);

function endOfBare(text: string, from: number, isQuery: boolean): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (BARE_END.has(code)) return at;
    if (code === BACKSLASH && /[\\"'`nrt]/.test(text[at + 1] ?? '')) return at;
    if (isQuery && (code === 0x26 || code === 0x23)) return at;
  }
  return text.length;
}
