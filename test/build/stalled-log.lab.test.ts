import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freeze, makeDisk } from '../lab/disk.ts';
import { openFolder } from '../lab/folder.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { STALLCAP } from './dist.ts';

/** Runs it with stdout and stderr appended to a file of a frozen filesystem; how long it took, ms, and how it ended. */
async function runInto(file: string, args: readonly string[], frozen: () => Promise<void>) {
  const log = openSync(file, 'a');
  await frozen();
  const started = performance.now();
  const child = spawn(STALLCAP, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  const { promise, resolve } = Promise.withResolvers<string>();
  child.on('exit', (code, signal) => resolve(String(code ?? signal)));
  const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
  // In D it would not end by that either: then nobody hears of an exit, and the time is over.
  const over = setTimeout(() => resolve('held by its log'), 21_000);
  const ended = await promise;
  clearTimeout(late);
  clearTimeout(over);
  return { ended, ms: performance.now() - started };
}

const reason = labUnavailable();

describe('a log on a filesystem that is frozen', () => {
  it.for([
    { what: 'a result', args: ['version'], code: '1' },
    { what: 'words', args: ['nope'], code: '2' },
  ])('does not hold a run that has $what for it', { timeout: 60_000 }, async ({ args, code }, { skip }) => {
    skip(reason !== null, reason ?? '');
    await using folder = await openFolder();
    await using undo = new AsyncDisposableStack();
    const { point } = await makeDisk(folder);
    const { ended, ms } = await runInto(join(point, 'log'), args, () => freeze(point, undo));
    expect(ended).toBe(code);
    expect(ms).toBeLessThan(15_000);
  });
});
