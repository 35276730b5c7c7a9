import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHeader, type Frame, FrameReader } from '../../src/host/frames.ts';

const frames = fc.array(fc.tuple(fc.record({ text: fc.string() }), fc.uint8Array({ maxLength: 300 })), {
  maxLength: 8,
});

describe('FrameReader', () => {
  it('gives the same frames however the bytes are cut', () => {
    fc.assert(
      fc.property(frames, fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.concat(
          sent.flatMap(([header, body]) => [encodeHeader(header, body.length), Buffer.from(body)]),
        );
        const reader = new FrameReader<{ text: string }>();
        const got: Frame<{ text: string }>[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          got.push(...reader.push(bytes.subarray(at, at + length)));
          at += length;
        }
        expect(got.map(({ header, body }) => [header, [...body]])).toEqual(
          sent.map(([header, body]) => [header, [...body]]),
        );
      }),
    );
  });
});
