import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToFit } from '../../src/bundle/cut-to-fit.ts';

describe('cutToFit', () => {
  const body = Buffer.from('first\nsecond\nthird\n');

  it('keeps whole lines from the beginning or from the end', () => {
    expect(cutToFit(body, 10, 'head').toString()).toBe('first\n');
    expect(cutToFit(body, 10, 'tail').toString()).toBe('third\n');
    expect(cutToFit(body, 100, 'head')).toBe(body);
  });

  it('cuts a line that is too long where it has to', () => {
    const line = Buffer.alloc(300_000, 'x');
    expect(cutToFit(line, 100_000, 'head')).toHaveLength(100_000);
    expect(cutToFit(line, 100_000, 'tail')).toHaveLength(100_000);
  });

  it('never keeps more than it may, and only what stands at that end', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 300 }), fc.nat(300), (text, bytes) => {
        const whole = Buffer.from(text);
        const head = cutToFit(whole, bytes, 'head');
        const tail = cutToFit(whole, bytes, 'tail');
        expect(Math.max(head.length, tail.length)).toBeLessThanOrEqual(bytes);
        expect(whole.subarray(0, head.length).equals(head)).toBe(true);
        expect(whole.subarray(whole.length - tail.length).equals(tail)).toBe(true);
      }),
    );
  });
});
