/**
 * `npm test`: everything that must hold, on a machine with nothing prepared. Arguments go to vitest as filters.
 * Ends with the tally alone on a line; the exit code is 0 when nothing failed and something passed.
 */
import { spawnSync } from 'node:child_process';
import { startVitest } from 'vitest/node';
import { newerContainerd } from '../test/lab/newer-containerd.ts';
import { labUnavailable } from '../test/lab/requirements.ts';
import { usualContainerd } from '../test/lab/usual-containerd.ts';
import { ROOT } from './build/paths.ts';
import { installDebianPackages, installWhenQuick } from './debian-packages.ts';
import { closingLine } from './test/closing-line.ts';
import { FiguresReporter } from './test/figures.ts';
import { TallyReporter } from './test/tally.ts';

const reporter = new TallyReporter();
const { tally } = reporter;

/** A step besides vitest; its output is shown as it comes. */
function step(name: string, ...argv: readonly string[]): void {
  console.log(`\n── ${name}`);
  const { status } = spawnSync('npm', ['run', '--silent', ...argv], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  tally[status === 0 ? 'passed' : 'failed'] += 1;
  if (status !== 0) console.log(`── ${name} failed`);
}

const { installed, missing, reason } = await installDebianPackages();
if (installed.length > 0) console.log(`installed: ${installed.join(' ')}`);
if (missing.length > 0) console.log(`not installed: ${missing.join(' ')} (${reason ?? 'unknown to apt'})`);
const browser = await installWhenQuick();
if (browser.missing.length > 0)
  console.log(`not installed: ${browser.missing.join(' ')} (${browser.reason ?? 'unknown to apt'})`);

// Not within the time of the first test that wants one.
if (labUnavailable() === null) {
  await usualContainerd();
  for (const release of ['trixie', 'forky'] as const) await newerContainerd(release);
}

step('lint', 'lint');
step('types', 'types');
step('build', 'build');

console.log('\n── tests');
const vitest = await startVitest('test', process.argv.slice(2), {
  run: true,
  watch: false,
  reporters: ['default', reporter, new FiguresReporter()],
});
await vitest.close();

const noLab = labUnavailable();
if (noLab !== null) console.log(`test/lab did not run: ${noLab}`);
for (const again of tally.again) console.log(`passed, but not at once: ${again}`);
for (const skipped of tally.skipped) console.log(`skipped: ${skipped}`);
process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;
console.log(`\n${closingLine(tally)}`);
