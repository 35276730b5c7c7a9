import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import vm from 'node:vm';
import { DIST } from './paths.ts';

/** Loads a bundle of dist as bin/load-bundle.ts does, in a script of the build: under record-code-cache.ts its cache is kept. */
export function load<Exports extends object>(name: string): Exports {
  const path = `${DIST}/${name}.cjs`;
  const module = { exports: {} as Exports };
  const compiled = new vm.Script(readFileSync(path, 'latin1'), { filename: path }).runInThisContext();
  compiled(module.exports, createRequire(path), module, path, DIST);
  return module.exports;
}
