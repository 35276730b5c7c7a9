import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Newest } from '../../../src/host/probe/newest.ts';

const PIECE = 16;

describe('the newest part of what is read', () => {
  it('is the last bytes of all that came, however they came', () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: PIECE }), { maxLength: 60 });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 100 }), (all, maxBytes) => {
        const newest = new Newest(maxBytes, PIECE);
        for (const piece of all) {
          const room = newest.room(PIECE);
          expect(room.length).toBe(PIECE);
          room.set(piece);
          newest.took(piece.length);
        }
        const whole = Buffer.concat(all);
        expect(newest.total).toBe(whole.length);
        expect(newest.bytes().equals(whole.subarray(Math.max(0, whole.length - maxBytes)))).toBe(true);
      }),
    );
  });
});
