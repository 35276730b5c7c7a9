import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexTriggers } from '../../../src/bundle/redact/triggers.ts';

describe('the index of triggers', () => {
  const words = ['pas', '://', 'eyj', 'aaa', 'aab', 'key'];
  const index = indexTriggers(words.map(letters => ({ letters, value: letters })));

  it('finds every trigger, in any case, and nothing else', () => {
    const letters = fc.constantFrom(...'pasPASeyJjkKabB:/x\0ŐŁ');
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 60 }), text => {
        const found: [number, string][] = [];
        for (let at = index.next(text, 0); at !== -1; at = index.next(text, at + 1)) {
          for (const word of index.at(text, at)) found.push([at, word]);
        }
        const expected = [...text].flatMap((_, at) =>
          words.filter(word => text.slice(at, at + 3).toLowerCase() === word).map(word => [at, word]),
        );
        expect(found).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes three letters, not more and not fewer', () => {
    expect(() => indexTriggers([{ letters: 'ab', value: 1 }])).toThrow(RangeError);
  });
});
