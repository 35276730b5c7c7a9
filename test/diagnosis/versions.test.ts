import { expect, it } from 'vitest';
import { isOlder } from '../../src/diagnosis/versions.ts';

it('compares versions by their numbers, whatever distributions add', () => {
  expect(isOlder('1.6.20~ds1', '1.7.34')).toBe(true);
  expect(isOlder('v1.7.34', '1.7.34')).toBe(false);
  expect(isOlder('1.7.4', '1.7.34')).toBe(true);
  expect(isOlder('2.0.0-rc.1', '1.7.34')).toBe(false);
  expect(isOlder('2.3.10', '2.3.2')).toBe(false);
});

it('says nothing of what it does not know', () => {
  for (const version of [null, '', 'unknown', '2.1']) expect(isOlder(version, '1.7.34')).toBeNull();
});
