import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/formats/duration.ts';

describe('parseDuration', () => {
  it.each([
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['1h2m3s4ms', 3_723_004],
    ['30', 30_000],
    ['0', 0],
    [' 5m ', 300_000],
  ])('takes %s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', 's', '1', '-1s', '30s1m', '1m1m', '5 m', '1e3s', 'Infinity', '1msx', '99999999d'])(
    'refuses "%s" unless it is a bare number',
    text => expect(parseDuration(text)).toBe(text === '1' ? 1000 : null),
  );
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [340, '340 ms'],
    [999.6, '1.0 s'],
    [20_200, '20.2 s'],
    [59_949, '59.9 s'],
    [59_970, '1 min'],
    [843_000, '14 min 3 s'],
    [3_599_600, '1 h'],
    [11_520_000, '3 h 12 min'],
    [86_380_000, '1 d'],
    [1_051_200_000, '12 d 4 h'],
    [-1500, '-1.5 s'],
    [Number.NaN, 'unknown'],
  ])('says %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it('never shows 60 s, 60 min or 24 h', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), ms => {
        expect(formatDuration(ms)).not.toMatch(/\b60(\.0)? (s|min)|\b24 h|\b1000 ms/);
      }),
    );
  });
});

describe('sizes', () => {
  it.each([
    ['128MiB', 128 * 1024 ** 2],
    ['16M', 16 * 1024 ** 2],
    ['64k', 65_536],
    ['1.5GiB', 1.5 * 1024 ** 3],
    ['4096', 4096],
    ['4096B', 4096],
    ['1 TB', 1024 ** 4],
  ])('takes %s', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(['', 'MiB', '-1', '1Q', '1e9', '999999999999T'])('refuses "%s"', text => expect(parseSize(text)).toBeNull());

  it.each([
    [812, '812 B'],
    [1024, '1.0 KiB'],
    [32_154, '31.4 KiB'],
    [12.9e9, '12.0 GiB'],
    [5e15, '4547.5 TiB'],
  ])('says %d as %s', (bytes, text) => expect(formatSize(bytes)).toBe(text));
});
