/**
 * Quotes as they occur in logs: `"` in JSON, `\"` where JSON or a quoted message stands in a quoted message (logrus,
 * klog, the annotation last-applied-configuration), `\\\"` one level further in.
 */
export interface Quote {
  readonly char: string;
  /** How many backslashes stand before it. */
  readonly level: number;
}

/** No log nests deeper. */
const MAX_LEVEL = 15;

/** The quote that starts at `at`; null when none does. */
export function quoteAt(text: string, at: number): Quote | null {
  let level = 0;
  while (text[at + level] === '\\' && level < MAX_LEVEL) level++;
  const char = text[at + level] ?? '';
  return char === '"' || char === "'" || char === '`' ? { char, level } : null;
}

/** The quote that ends just before `at`; null when none does. */
export function quoteBefore(text: string, at: number): Quote | null {
  const char = text[at - 1] ?? '';
  if (char !== '"' && char !== "'" && char !== '`') return null;
  let level = 0;
  while (text[at - 2 - level] === '\\' && level < MAX_LEVEL) level++;
  return { char, level };
}

export function lengthOf(quote: Quote): number {
  return quote.level + 1;
}

/**
 * Where the text that `quote` opened ends: before its closing quote, at the end of the line, or at the end of the text.
 * A quote in the text has more backslashes: at level 0 it is `\"`, at level 1 `\\\"`; a closing one behind a backslash
 * of the text is `\\"` and `\\\\\"`.
 */
export function closingQuote(text: string, from: number, quote: Quote): number {
  const period = 2 * (quote.level + 1);
  let backslashes = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') {
      backslashes++;
      continue;
    }
    if (char === '\n') return at;
    if (char === quote.char && backslashes % period === quote.level) return at - quote.level;
    backslashes = 0;
  }
  return text.length;
}
