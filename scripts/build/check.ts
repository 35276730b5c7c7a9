import { spawnSync } from 'node:child_process';
import { DIST } from './paths.ts';

/** Fails the build when the executable does not start, or V8 refuses the code cache it was given. */
export function checkExecutable(): void {
  const { status, stdout, stderr } = spawnSync(`${DIST}/stallcap`, ['help'], {
    env: { PATH: process.env['PATH'], STALLCAP_REPORT_LOAD: '1' },
    encoding: 'utf8',
  });
  if (status !== 0 || !stdout.includes('COMMANDS')) throw new Error(`dist/stallcap does not run: ${stderr}`);
  if (!stderr.includes('load program: cache accepted')) throw new Error(`the code cache is of no use: ${stderr}`);
}
