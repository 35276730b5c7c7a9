import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { PHASES } from '../../../src/collectors/collector.ts';
import type { Containerd } from '../containerd.ts';
import type { LabFolder } from '../folder.ts';
import { alive } from '../proc.ts';
import { until } from '../wait.ts';
import { type Bundle, openBundle } from './bundle.ts';
import { type Run, type RunOptions, stallcap } from './stallcap.ts';

export interface Grabbed {
  readonly run: Run;
  readonly file: string;
  readonly bundle: Bundle;
}

let grabs = 0;

/**
 * Grabs for real, into a folder of the lab, and expects what holds of every grab: the exit code, one bundle of mode 0600
 * whose path is all that stdout has, entries in the order of volatility, short closing words, and nothing left behind.
 */
export async function grab(
  folder: LabFolder,
  args: readonly string[],
  expected: { readonly exit: 0 | 3 | readonly (0 | 3)[] },
  options: RunOptions = {},
): Promise<Grabbed> {
  grabs += 1;
  const out = join(folder.path, `bundles-${grabs}`);
  mkdirSync(out);
  const cwd = options.cwd ?? join(folder.path, `empty-${grabs}`);
  // Tests grab one pod many times in a row.
  const run = await stallcap(folder, ['grab', ...args, '--signal-again', '-o', `${out}/`], { ...options, cwd });
  const file = run.stdout.toString().trimEnd();
  expect(run.stdout.toString(), run.stderr).toBe(`${file}\n`);
  expect(readdirSync(out).map(name => join(out, name))).toEqual([file]);
  const bundle = await openBundle(file);
  expect([expected.exit].flat(), [...gapsOf(bundle), run.stderr].join('\n')).toContain(run.exit);
  if (options.cwd === undefined) expect(readdirSync(cwd)).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(run.left).toEqual([]);
  expect(closingWords(run.stderr).length).toBeLessThan(15);
  expectOrderOfVolatility(bundle);
  for (const elsewhere of ['/run/stallcap', '/dev/shm', '/tmp']) {
    expect(existsSync(elsewhere) ? readdirSync(elsewhere) : []).not.toContain(
      `${bundle.manifest.output.folder}.tar.gz`,
    );
  }
  return { run, file, bundle };
}

/** What is on stderr below the lines of the progress. */
export function closingWords(stderr: string): string[] {
  const lines = stderr.trimEnd().split('\n');
  return lines.slice(lines.findIndex(line => line.startsWith('Captured: ')));
}

function expectOrderOfVolatility({ manifest }: Bundle): void {
  const order = ['plan', ...PHASES, 'seal'];
  const seen = manifest.items.map(({ phase }) => order.indexOf(phase));
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen).not.toContain(-1);
}

/** What is missing of a bundle, one line each, for the message of a failed test. */
export function gapsOf({ manifest }: Bundle): string[] {
  const whole = ['ok', 'empty', 'absent'];
  return [
    ...manifest.items.map(({ path, outcome, detail }) => ({ what: path, outcome, detail })),
    ...manifest.notGot,
  ].flatMap(({ what, outcome, detail }) => (whole.includes(outcome) ? [] : [`${what}: ${outcome} ${detail ?? ''}`]));
}

/** The shim answers State for each of these containers, and their processes run. */
export async function expectUnharmed(
  containerd: Pick<Containerd, 'ctr'>,
  containers: readonly { readonly id: string; readonly initPid: number }[],
  namespace = 'k8s.io',
): Promise<void> {
  for (const { id, initPid } of containers) {
    const row = new RegExp(`^${id} +${initPid} +RUNNING`, 'm');
    await until(`the shim of ${id} to answer`, 20_000, async () =>
      row.test(await containerd.ctr(['-n', namespace, 'task', 'ls'], 5000).catch(() => '')),
    );
    expect(alive(initPid)).toBe(true);
  }
}
