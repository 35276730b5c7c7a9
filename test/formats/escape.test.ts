import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeColumn, escapeLine, printable, unescapeLine } from '../../src/formats/escape.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
/** Code units at random, so that lone surrogates come up. */
const anyUnits = fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units));

describe('printable', () => {
  it('shows what would move the cursor, colour, reverse or hide text', () => {
    expect(printable('a\x1b[2Jb\r\n\tc\u009b31m')).toBe('a\\x1b[2Jb\\r\\n\\tc\\x9b31m');
    expect(printable('user\u202egnp.exe')).toBe('user\\u{202e}gnp.exe');
    expect(printable('\u2066x\u2069\u200b\u{e0041}')).toBe('\\u{2066}x\\u{2069}\\u{200b}\\u{e0041}');
    expect(printable('one\u2028two\u0085three')).toBe('one\\u{2028}two\\x85three');
    expect(printable('\ud800')).toBe('\\u{d800}');
  });

  it('leaves words of any language and backslashes as they are', () => {
    expect(printable('Grüße, мир, 世界 😀 C:\\n')).toBe('Grüße, мир, 世界 😀 C:\\n');
  });

  it('leaves nothing that a terminal would act on', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), text => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        expect(printable(text)).not.toMatch(/[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/);
      }),
    );
  });
});

describe('escapeLine and escapeColumn', () => {
  it('are undone exactly', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), text => {
        expect(unescapeLine(escapeLine(text))).toBe(text);
        expect(unescapeLine(escapeColumn(text))).toBe(text);
      }),
    );
  });

  it('leave a column without white space, without `=` and never empty', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), text => {
        expect(escapeColumn(text)).toMatch(/^[^\s=]+$/);
      }),
    );
    expect(escapeColumn('tmux: server')).toBe('tmux:\\x20server');
  });

  it('leave alone what is no escape of theirs', () => {
    expect(unescapeLine('C:\\path \\u{ffffff} \\q \\')).toBe('C:\\path \\u{ffffff} \\q \\');
  });
});
