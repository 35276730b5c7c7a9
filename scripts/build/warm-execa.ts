import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import vm from 'node:vm';
import type { execa as Execa } from 'execa';
import { DIST } from './paths.ts';

/** Runs commands through the execa bundle as a probe does, so that its code cache knows what a probe needs. */
const path = `${DIST}/execa.cjs`;
const module = { exports: {} as { execa: typeof Execa } };
const compiled = new vm.Script(readFileSync(path, 'latin1'), { filename: path }).runInThisContext();
compiled(module.exports, createRequire(path), module, path, DIST);
const { execa } = module.exports;

const likeAProbe = { encoding: 'buffer', reject: false, stdin: 'ignore', timeout: 5000, maxBuffer: 1 << 20 } as const;
await execa('true', [], likeAProbe);
await execa('sh', ['-c', 'echo out; echo err >&2; exit 3'], likeAProbe);
await execa('sleep', ['5'], { ...likeAProbe, timeout: 50 });
await execa('no-such-program-anywhere', [], likeAProbe);
