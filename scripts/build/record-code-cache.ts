import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import vm from 'node:vm';
import { DIST } from './paths.ts';

/**
 * Preloaded (`node --import`) into a real run of dist/entry.cjs: keeps hold of each bundle that is compiled, and at
 * the end writes V8's code cache of it, with every function that the run came by.
 */
const Script = vm.Script;
const scripts = new Map<string, vm.Script>();

vm.Script = class extends Script {
  constructor(source: string, options: vm.ScriptOptions) {
    super(source, options);
    scripts.set(basename(options.filename ?? '', '.cjs'), this);
  }
};

process.on('exit', () => {
  for (const [name, script] of scripts) writeFileSync(`${DIST}/${name}.cache`, script.createCachedData());
});
