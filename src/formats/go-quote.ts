/**
 * Go's double-quoted strings, as strconv.Quote and fmt's %q write them and logrus puts them into `msg="…"`. Undone with
 * the rules of strconv.Unquote (Go src/strconv/quote.go): what that refuses is refused here.
 */

const SIMPLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  '"': 34,
};

const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

interface Escape {
  /** One byte (`\x`, `\377`), or a code point. */
  readonly kind: 'byte' | 'rune';
  readonly value: number;
  /** Characters after the backslash. */
  readonly length: number;
}

/** The escape after a backslash at `at - 1`; null for one that Go does not know. */
function readEscape(text: string, at: number): Escape | null {
  const letter = text[at];
  if (letter === undefined) return null;
  const simple = SIMPLE[letter];
  if (simple !== undefined) return { kind: 'rune', value: simple, length: 1 };
  const hexLength = HEX_LENGTH[letter];
  if (hexLength !== undefined) {
    const digits = text.slice(at + 1, at + 1 + hexLength);
    if (digits.length < hexLength || !/^[0-9a-fA-F]+$/.test(digits)) return null;
    const value = Number.parseInt(digits, 16);
    if (letter !== 'x' && (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))) return null;
    return { kind: letter === 'x' ? 'byte' : 'rune', value, length: 1 + hexLength };
  }
  const octal = text.slice(at, at + 3);
  if (!/^[0-3][0-7]{2}$/.test(octal)) return null;
  return { kind: 'byte', value: Number.parseInt(octal, 8), length: 3 };
}

function decode(inner: string, unknown: 'refuse' | 'keep'): Buffer | null {
  const done: Buffer[] = [];
  let text = '';
  let plainFrom = 0;
  for (let at = inner.indexOf('\\'); at >= 0; at = inner.indexOf('\\', at)) {
    const found = readEscape(inner, at + 1);
    if (found === null) {
      if (unknown === 'refuse') return null;
      at += 1;
      continue;
    }
    text += inner.slice(plainFrom, at);
    if (found.kind === 'byte' && found.value >= 0x80) {
      done.push(Buffer.from(text), Buffer.of(found.value));
      text = '';
    } else {
      text += String.fromCodePoint(found.value);
    }
    at += 1 + found.length;
    plainFrom = at;
  }
  return Buffer.concat([...done, Buffer.from(text + inner.slice(plainFrom))]);
}

/**
 * The text between the quotes, undone, as bytes: `\xff` is a byte of its own and may break UTF-8. Null where Go refuses:
 * an unknown escape, a bare `"`, a line end.
 */
export function unquoteGoBytes(inner: string): Buffer | null {
  return inner.includes('\n') || closingQuote(inner, 0) >= 0 ? null : decode(inner, 'refuse');
}

/** Like `unquoteGoBytes`, as text; bytes that are no UTF-8 become U+FFFD. */
export function unquoteGo(inner: string): string | null {
  return unquoteGoBytes(inner)?.toString('utf8') ?? null;
}

/** Undoes what can be undone, and leaves what is no escape as it stands: for text that was cut in the middle. */
export function unquoteGoLoosely(inner: string): string {
  return decode(inner, 'keep')?.toString('utf8') ?? inner;
}

/** Where the quote that ends a quoted text stands, from `from` (just after the opening one); -1 without one in `text`. */
export function closingQuote(text: string, from: number): number {
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return -1;
    // An odd run of backslashes before it makes it part of the text. Looking back no further than `at` keeps this linear.
    let slashes = 0;
    while (quote - slashes > at && text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}
