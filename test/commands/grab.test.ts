import { expect, it } from 'vitest';
import { ENTRY, run } from '../cli/run.ts';

it('a grab of a pod and of the node alone is refused: the pod would be left out without a word', () => {
  const { status, stdout, stderr } = run(['grab', 'web-0', '--node', '-o', '/dev/null'], { script: ENTRY });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('web-0 would be left out');
});
