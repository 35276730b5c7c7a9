import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, repeated } from '../../../src/formats/protobuf/message.ts';
import { readFields } from '../../../src/formats/protobuf/wire.ts';

const SHAPE = {
  name: [1, 'text'],
  raw: [2, 'bytes'],
  on: [3, 'flag'],
  count: [4, 'number'],
  at: [15, 'digits'],
  inner: [16, { code: [1, 'number'], words: [2, repeated('text')] }],
  rows: [2047, repeated({ id: [1, 'text'] })],
} as const;

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const message = fc.record({
  name: fc.string({ unit: 'grapheme' }),
  raw: fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
  on: fc.boolean(),
  count: fc.integer(),
  at: int64,
  inner: fc.option(fc.record({ code: fc.integer(), words: fc.array(fc.string()) })),
  rows: fc.array(fc.record({ id: fc.string() }), { maxLength: 20 }),
});

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('a protobuf message', () => {
  it('comes back as it was sent, whatever is in it', () => {
    fc.assert(
      fc.property(message, sent => {
        const { inner, ...rest } = sent;
        const encoded = encodeMessage(SHAPE, inner === null ? rest : { ...rest, inner });
        expect(decodeMessage(SHAPE, encoded)).toEqual(sent);
      }),
    );
  });

  it('is encoded as the specification shows it', () => {
    // protobuf.dev/programming-guides/encoding: a varint, a string, an embedded message, a negative number
    expect(encodeMessage({ a: [1, 'number'] }, { a: 150 }).toString('hex')).toBe('089601');
    expect(encodeMessage({ b: [2, 'text'] }, { b: 'testing' }).toString('hex')).toBe('120774657374696e67');
    expect(encodeMessage({ c: [3, { a: [1, 'number'] }] }, { c: { a: 150 } }).toString('hex')).toBe('1a03089601');
    expect(encodeMessage({ a: [1, 'number'] }, { a: -2 }).toString('hex')).toBe('08feffffffffffffffff01');
  });

  it('has defaults for what was not sent, and passes over what is not known', () => {
    expect(decodeMessage({ a: [1, 'number'], b: [2, 'text'], c: [3, { a: [1, 'number'] }] }, bytes(''))).toEqual({
      a: 0,
      b: '',
      c: null,
    });
    // 8: fixed64, 9: fixed32, 10: string, 1: varint twice
    const more = bytes('41 0102030405060708 4d 01020304 52 02 6869 08 01 08 02');
    expect(decodeMessage({ a: [1, 'number'] }, more)).toEqual({ a: 2 });
  });

  it.each([
    ['a varint without an end', '08 ff'],
    ['a varint of eleven bytes', '08 ff ff ff ff ff ff ff ff ff ff 01'],
    ['a length beyond the end', '12 05 61'],
    ['a length of 2^63', '12 80 80 80 80 80 80 80 80 80 01'],
    ['field number 0', '00 01'],
    ['a group', '0b 0c'],
    ['a wire type that is none', '0f'],
    ['a fixed64 that is cut', '09 01 02'],
    ['a string where a number is due', '0a 01 61'],
  ])('is none with %s', (_, hex) => {
    expect(decodeMessage({ a: [1, 'number'] }, bytes(hex))).toBeNull();
  });

  it('is none when it is cut anywhere but between two fields', () => {
    const whole = encodeMessage(SHAPE, { name: 'web-0', count: 300, at: '1795952553569336228', rows: [{ id: 'x' }] });
    const ends = new Set<number>();
    for (let at = 0; at <= whole.length; at += 1) if (readFields(whole.subarray(0, at)) !== null) ends.add(at);
    expect([...ends]).toEqual([0, 7, 10, 20, whole.length]);
  });

  it('of random bytes is read or refused, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), random => {
        decodeMessage(SHAPE, Buffer.from(random));
      }),
      { numRuns: 2000 },
    );
  });

  it('of two million fields is refused instead of held', () => {
    expect(readFields(Buffer.alloc(4 << 20, bytes('08 01')))).toBeNull();
  });
});
