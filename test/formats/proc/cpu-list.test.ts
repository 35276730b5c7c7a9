import { expect, test } from 'vitest';
import { parseCpuList } from '../../../src/formats/proc/cpu-list.ts';

test.each([
  ['\n', []],
  [' (null)\n', []],
  ['7\n', [7]],
  ['2-4,8,126-127\n', [2, 3, 4, 8, 126, 127]],
  ['3-1', []],
])('the list of CPUs %j', (text, cpus) => {
  expect([...parseCpuList(text)]).toEqual(cpus);
});

test('a list of CPUs ends somewhere', () => {
  expect(parseCpuList('0-4000000000').size).toBe(8192);
});
