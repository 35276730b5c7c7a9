import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closingQuote, unquoteGo, unquoteGoBytes, unquoteGoLoosely } from '../../src/formats/go-quote.ts';

/** strconv.Quote for bytes: what is UTF-8 and printable stays, all else is escaped (Go src/strconv/quote.go). */
function quote(bytes: Buffer): string {
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    const size = [1, 2, 3, 4].find(
      length =>
        !bytes
          .subarray(at, at + length)
          .toString('utf8')
          .includes('\ufffd'),
    );
    const short: Record<string, string> = {
      '\x07': 'a',
      '\b': 'b',
      '\f': 'f',
      '\n': 'n',
      '\r': 'r',
      '\t': 't',
      '\v': 'v',
    };
    if (size === undefined || at + size > bytes.length) {
      out += `\\x${bytes.subarray(at, at + 1).toString('hex')}`;
      at += 1;
      continue;
    }
    const rune = bytes.subarray(at, at + size).toString('utf8');
    const code = rune.codePointAt(0) ?? 0;
    if (rune === '"' || rune === '\\') out += `\\${rune}`;
    else if (short[rune] !== undefined) out += `\\${short[rune]}`;
    else if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(rune)) out += rune;
    else if (code < 0x80) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, '0')}`;
    else out += `\\U${code.toString(16).padStart(8, '0')}`;
    at += size;
  }
  return out;
}

describe('unquoteGo', () => {
  it.each([
    ['a\\nb\\tc', 'a\nb\tc'],
    ['\\a\\b\\f\\n\\r\\t\\v\\\\\\"', '\x07\b\f\n\r\t\v\\"'],
    ['\\x41\\101\\u00e9\\U0001f600', 'AAé😀'],
    ['\\xc3\\xa9', 'é'],
    ["it's", "it's"],
    ['', ''],
    ['C:\\\\n', 'C:\\n'],
  ])('undoes %s', (inner, text) => expect(unquoteGo(inner)).toBe(text));

  it.each([
    "\\'",
    '\\q',
    '\\',
    '\\x4',
    '\\xzz',
    '\\u12',
    '\\ud800',
    '\\U00110000',
    '\\400',
    '\\18',
    '\\08x',
    'a"b',
    'a\nb',
    '\\\n',
  ])('refuses %j, as strconv.Unquote does', inner => expect(unquoteGo(inner)).toBeNull());

  it('keeps bytes that are no UTF-8', () => {
    expect(unquoteGoBytes('a\\xff\\377b')).toEqual(Buffer.from([0x61, 0xff, 0xff, 0x62]));
    expect(unquoteGo('a\\xffb')).toBe('a\ufffdb');
  });

  it('gives back any bytes that Go has quoted', () => {
    const bytes = fc.oneof(
      fc.uint8Array().map(value => Buffer.from(value)),
      fc.string({ unit: 'binary' }).map(value => Buffer.from(value)),
    );
    fc.assert(
      fc.property(bytes, value => {
        const quoted = quote(value);
        expect(unquoteGoBytes(quoted)).toEqual(value);
        expect(closingQuote(`${quoted}" tail"`, 0)).toBe(quoted.length);
        expect(unquoteGoLoosely(quoted)).toBe(value.toString('utf8'));
      }),
    );
  });
});

describe('unquoteGoLoosely', () => {
  it('undoes what stands before a cut in the middle of an escape', () => {
    expect(unquoteGoLoosely('goroutine 1\\n\\tshim.go \\')).toBe('goroutine 1\n\tshim.go \\');
    expect(unquoteGoLoosely('a\\q\\n"b\n\\x4')).toBe('a\\q\n"b\n\\x4');
  });
});

describe('closingQuote', () => {
  it('tells an escaped quote from one after an escaped backslash', () => {
    expect(closingQuote('a\\"b"', 0)).toBe(4);
    expect(closingQuote('a\\\\"b"', 0)).toBe(3);
    expect(closingQuote('a\\\\\\"', 0)).toBe(-1);
    expect(closingQuote('x="y"', 3)).toBe(4);
  });

  it('stays linear on long runs of backslashes and quotes', () => {
    expect(closingQuote('\\'.repeat(1_000_001) + '"'.repeat(2), 0)).toBe(1_000_002);
    expect(closingQuote('\\"'.repeat(500_000), 0)).toBe(-1);
  });
});
