import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/cli/nearest.ts';

const NAMES = ['grab', 'list', 'verify', 'version', 'report', 'help'];

describe('the name that may have been meant', () => {
  it.each([
    ['grba', ['grab']],
    ['gra', ['grab']],
    ['ver', ['verify', 'version']],
    ['lits', ['list']],
    ['repotr', ['report']],
    ['x', []],
    ['xyz', []],
    ['', []],
  ])('%s: %j', (asked, meant) => {
    expect(nearest(asked, NAMES)).toEqual(meant);
  });
});
