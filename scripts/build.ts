/** `npm run build`: dist/stallcap, the single executable, and the same bundles for bin/run.js. */
import { mkdirSync, statSync } from 'node:fs';
import { bundleAll } from './build/bundle.ts';
import { checkExecutable } from './build/check.ts';
import { makeCodeCache } from './build/code-cache.ts';
import { makeExecutable } from './build/executable.ts';
import { DIST } from './build/paths.ts';

const STEPS = [
  ['bundles', bundleAll],
  ['code cache', makeCodeCache],
  ['executable', makeExecutable],
  ['check', checkExecutable],
] as const;

mkdirSync(DIST, { recursive: true });
for (const [name, step] of STEPS) {
  const started = performance.now();
  await step();
  console.error(`build: ${name} ${Math.round(performance.now() - started)} ms`);
}
console.error(`build: dist/stallcap ${(statSync(`${DIST}/stallcap`).size / 2 ** 20).toFixed(0)} MiB`);
