/**
 * Text of unknown origin, made safe to show and to lay out. A process may call itself anything (prctl PR_SET_NAME), and
 * a log line may hold whatever a container wrote: escape sequences that repaint a terminal, characters that reverse the
 * reading direction, line ends that forge a row.
 */

/**
 * Control characters (C0, DEL, C1), invisible format characters (all bidi overrides and isolates, zero-width ones, tag
 * characters), the two Unicode line ends, and lone surrogates, which no encoder can write.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

function escapeOf(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * One line, safe on any terminal: whatever could move the cursor, colour, reverse or hide text is shown as a visible
 * escape (`\n`, `\x1b`, `\u{202e}`). Backslashes stay single, so the result is for eyes: it cannot be undone with certainty.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** Like `printable`, and doubles backslashes: `unescapeLine` gives back the very text. Spaces stay. */
export function escapeLine(text: string): string {
  return text.replace(/[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, escapeOf);
}

/**
 * One column of a table: like `escapeLine`, and no white space of any kind is left in it, nor `=` (which draws the
 * headings of thread dumps). `unescapeLine` gives back the very text. The empty text becomes `\e`.
 */
export function escapeColumn(text: string): string {
  return text === '' ? '\\e' : text.replace(/[=\s\\\p{Cc}\p{Cf}\p{Z}\p{Cs}]/gu, escapeOf);
}

const ESCAPED = /\\(?:([nrt\\e])|x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\})/g;
const LONG: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\', e: '' };

/** Undoes `escapeLine` and `escapeColumn`. What is no escape of theirs stays as it stands. */
export function unescapeLine(text: string): string {
  return text.replace(ESCAPED, (whole, short?: string, byte?: string, code?: string) => {
    if (short !== undefined) return LONG[short] ?? whole;
    const point = Number.parseInt(byte ?? code ?? '', 16);
    return point > 0x10ffff ? whole : String.fromCodePoint(point);
  });
}
