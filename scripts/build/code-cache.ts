import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { LOADED_BUNDLES } from './bundle.ts';
import { DIST, NODE, ROOT } from './paths.ts';

/** The command that is in a hurry: functions that V8 compiled during it are in the cache, others are compiled when called. */
const WARM_UP = ['grab', '--node', '--samples', '1', '--timeout', '20s'];

/** Writes dist/<bundle>.cache for each bundle that is loaded later, from real runs on this machine. */
export function makeCodeCache(): void {
  const folder = mkdtempSync(`${tmpdir()}/stallcap-build-`);
  for (const name of LOADED_BUNDLES) rmSync(`${DIST}/${name}.cache`, { force: true });
  const said: string[] = [];
  try {
    said.push(record([`${DIST}/entry.cjs`, ...WARM_UP, '-o', `${folder}/`]));
    said.push(record([`${ROOT}scripts/build/warm-probe.ts`]));
    const [bundle = ''] = readdirSync(folder);
    said.push(record([`${ROOT}scripts/build/warm-page.ts`, `${folder}/${bundle}`]));
    said.push(record([`${ROOT}scripts/build/warm-yaml.ts`]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const missing = LOADED_BUNDLES.filter(name => !existsSync(`${DIST}/${name}.cache`));
  if (missing.length > 0) throw new Error(`no code cache was recorded of ${missing.join(', ')}:\n${said.join('')}`);
}

/**
 * The exit code is of no interest: without containerd or without root things are missing. V8 refuses a cache that was
 * made under other flags than it is used under, so those of the builder's shell are left out. Returns what was said.
 */
function record(args: readonly string[]): string {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const recorder = `--import=${ROOT}scripts/build/record-code-cache.ts`;
  const { stderr } = spawnSync(NODE, [recorder, ...args], { env, encoding: 'utf8', timeout: 60_000 });
  return stderr;
}
