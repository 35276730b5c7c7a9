import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closingQuote, lengthOf, quoteAt } from '../../../src/bundle/redact/quotes.ts';
import { redactText } from '../../../src/bundle/redact/redact.ts';

/** Text with everything in it that JSON escapes, often at its end. */
const tricky = fc.string({ unit: fc.constantFrom('"', '\\', 'a', ' ', '\n', '\t', "'", 'ü', ','), maxLength: 12 });

function nested(value: unknown, depth: number): string {
  let text = JSON.stringify(value);
  for (let level = 0; level < depth; level++) text = JSON.stringify(text);
  return text;
}

function unnested(text: string, depth: number): unknown {
  let value: unknown = JSON.parse(text);
  for (let level = 0; level < depth; level++) value = JSON.parse(value as string);
  return value;
}

describe('closingQuote', () => {
  it('ends a string where JSON ends it, up to three levels deep', () => {
    fc.assert(
      fc.property(tricky, fc.nat(3), (inner, depth) => {
        const text = nested(inner, depth);
        // Before it the quotes around it: one character, two, four.
        const at = 2 ** depth - 1;
        const quote = quoteAt(text, at);
        expect(quote).toEqual({ char: '"', level: 2 ** depth - 1 });
        if (quote === null) return;
        // What closes the innermost string, then each string around it.
        const tail = Array.from({ length: depth + 1 }, (_, level) => 2 ** level).reduce((sum, n) => sum + n, 0);
        expect(closingQuote(text, at + lengthOf(quote), quote)).toBe(text.length - tail);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a password in JSON in JSON', () => {
  it('is gone whole, and all else is as it was', () => {
    const value = fc.tuple(
      tricky,
      tricky.filter(text => /a.*a/s.test(text) && text.length > 3),
    );
    fc.assert(
      fc.property(value, fc.nat(2), ([other, password], depth) => {
        const document = { before: other, db: { password, port: 5432 }, after: [other] };
        const redacted = redactText(nested(document, depth));
        expect(unnested(redacted, depth)).toEqual({ ...document, db: { password: '[redacted:password]', port: 5432 } });
      }),
      { numRuns: 500 },
    );
  });
});
