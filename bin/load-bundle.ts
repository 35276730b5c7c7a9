/**
 * Loads one of the bundles that lie beside this script: as an asset of the executable, or as dist/<name>.cjs. They are
 * apart so that the entry stays small: what is not compiled is not waited for.
 *
 * An asset comes with V8's code cache, made at build after a real run (scripts/code-cache.ts), so that nothing of it is
 * parsed again. V8 rejects a cache when any of its flags differs from the time it was made, so none is set anywhere.
 */
export function loadBundle(name: string): unknown {
  const { compiled, require, filename } = inExecutable() ? fromAsset(name) : fromFile(name);
  const module = { exports: {} };
  // By its own place a bundle finds those beside it.
  (compiled as WrappedModule)(module.exports, require, module, filename, '/');
  return module.exports;
}

/** What scripts/build.ts wraps each bundle in: the arguments of a CommonJS module. */
type WrappedModule = (exports: object, require: unknown, module: object, filename: string, dirname: string) => void;

function inExecutable(): boolean {
  return process.getBuiltinModule('node:sea').isSea();
}

function fromAsset(name: string) {
  const { getRawAsset } = process.getBuiltinModule('node:sea');
  const { Script } = process.getBuiltinModule('node:vm');
  const started = performance.now();
  // The bundles are ASCII (esbuild's default), and latin1 is the quick way to a one-byte string.
  const source = Buffer.from(getRawAsset(`${name}.cjs`)).toString('latin1');
  const cachedData = Buffer.from(getRawAsset(`${name}.cache`));
  const script = new Script(source, { filename: `${name}.cjs`, cachedData });
  const compiled = script.runInThisContext();
  report(name, script.cachedDataRejected === true, performance.now() - started);
  return { compiled, require: process.getBuiltinModule, filename: name };
}

function fromFile(name: string) {
  const { createRequire } = process.getBuiltinModule('node:module');
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const { Script } = process.getBuiltinModule('node:vm');
  const require = createRequire(__filename);
  const path = require.resolve(`./${name}.cjs`);
  const script = new Script(readFileSync(path, 'latin1'), { filename: path });
  return { compiled: script.runInThisContext(), require, filename: path };
}

/** For scripts/build.ts and bench: the executable says whether its cache was of use. */
function report(name: string, rejected: boolean, ms: number): void {
  if (process.env['STALLCAP_REPORT_LOAD'] !== '1') return;
  process.stderr.write(`load ${name}: cache ${rejected ? 'rejected' : 'accepted'}, ${ms.toFixed(2)} ms\n`);
}
