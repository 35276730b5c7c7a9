import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import type { LabFolder } from '../folder.ts';
import { type Bundle, openBundle } from '../grab/bundle.ts';
import { gapsOf } from '../grab/grab.ts';
import { type Run, type RunOptions, type Started, startStallcap } from '../grab/stallcap.ts';
import { note } from './figures.ts';

/** Beyond --timeout, in which the process is gone whatever happens. */
const GRACE_MS = 2000;

export interface FaultOptions extends RunOptions {
  readonly timeoutS: number;
  readonly args?: readonly string[];
  /** Where the bundle is to go. Default: a folder of its own. */
  readonly out?: string;
  /** What is done to it while it runs. */
  readonly meanwhile?: (started: Started) => Promise<void> | void;
}

/** A run that came back, and the bundle that it says it has written. */
export interface Through {
  readonly run: Run;
  readonly file: string;
  readonly bundle: Bundle;
}

let folders = 0;

/** Grabs, and expects that the run, and everybody who could hold a pipe of it, is gone in time. */
export async function runThrough(
  context: Pick<TestContext, 'task'>,
  folder: LabFolder,
  args: readonly string[],
  { timeoutS, meanwhile, ...options }: FaultOptions,
): Promise<Run> {
  const started = startStallcap(folder, [...args, '--timeout', `${timeoutS}s`, ...(options.args ?? [])], options);
  await meanwhile?.(started);
  const run = await started.ended;
  const overtimeMs = run.ms - timeoutS * 1000;
  note(context, { overtimeMs });
  expect(overtimeMs, run.stderr).toBeLessThan(GRACE_MS);
  return run;
}

/**
 * Grabs a pod and opens the bundle, which is where stdout says. Of the place that was asked for nothing is left under a
 * final name but that.
 */
export async function grabThrough(
  context: Pick<TestContext, 'task'>,
  folder: LabFolder,
  target: string,
  options: FaultOptions,
): Promise<Through> {
  folders += 1;
  const out = options.out ?? join(folder.path, `out-${folders}`);
  if (options.out === undefined) mkdirSync(out);
  const run = await runThrough(context, folder, ['grab', target, '--signal-again', '-o', `${out}/`], options);
  const file = run.stdout.toString().trimEnd();
  expect(run.stdout.toString(), run.stderr).toBe(`${file}\n`);
  if (options.out === undefined) expect(readdirSync(out).map(name => join(out, name))).toEqual([file]);
  return { run, file, bundle: await openBundle(file) };
}

/** Items of a bundle by outcome: 'shim/threads-1.txt' under 'ok'. What was not got stands under its path, or what it was. */
export function outcomesOf(bundle: Bundle): ReadonlyMap<string, string> {
  const { items, notGot } = bundle.manifest;
  return new Map([
    ...items.map(({ path, outcome }) => [path, outcome] as const),
    ...notGot.map(({ path, what, outcome }) => [path ?? what, outcome] as const),
  ]);
}

/** Exit code 3, and nothing missing but what `expected` matches. */
export function expectOnlyMissing({ run, bundle }: Through, ...expected: readonly RegExp[]): void {
  const gaps = gapsOf(bundle);
  expect(gaps.filter(gap => !expected.some(pattern => pattern.test(gap)))).toEqual([]);
  expect(run.exit, gaps.join('\n')).toBe(gaps.length > 0 ? 3 : 0);
}

/** The threads of the shim as they were first seen, each with a kernel stack. */
export function expectShimStacks(bundle: Bundle): void {
  const threads = bundle.threads('shim/threads-1.txt');
  expect(threads.length).toBeGreaterThan(4);
  expect(outcomesOf(bundle).get('shim/threads-1.txt')).toBe('ok');
  expect(bundle.text('shim/threads-1.txt').match(/^\[<0>\] /gm)?.length ?? 0).toBeGreaterThan(threads.length);
}
