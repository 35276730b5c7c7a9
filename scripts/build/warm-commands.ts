import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import vm from 'node:vm';
import { monotonicMs } from '../../src/host/clock.ts';
import type * as Commands from '../../src/host/probe/commands.ts';
import { DIST } from './paths.ts';

/** Runs commands as a probe does, each way they can end, so that the code cache of that bundle knows what a probe needs. */
const path = `${DIST}/commands.cjs`;
const module = { exports: {} as typeof Commands };
const compiled = new vm.Script(readFileSync(path, 'latin1'), { filename: path }).runInThisContext();
compiled(module.exports, createRequire(path), module, path, DIST);

for (const [argv, timeoutMs] of [
  [['sh', '-c', 'echo out; echo err >&2; exit 3'], 5000],
  [['sleep', '5'], 50],
  [['no-such-program-anywhere'], 50],
] as const) {
  await module.exports.runCommand({ argv, timeoutMs }, monotonicMs() + timeoutMs);
}
