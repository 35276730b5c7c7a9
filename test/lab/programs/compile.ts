import { join } from 'node:path';
import type { LabFolder } from '../folder.ts';
import { run } from '../run.ts';

/** Compiles one of the C programs beside this file into a folder of the lab. @returns path of the executable */
export async function compile(folder: LabFolder, name: string, ...flags: readonly string[]): Promise<string> {
  const program = join(folder.path, name);
  await run('cc', ['-O1', '-Wall', '-pthread', ...flags, '-o', program, join(import.meta.dirname, `${name}.c`)]);
  return program;
}

/** The same for a library to be preloaded (LD_PRELOAD) into a program. */
export async function compilePreload(folder: LabFolder, name: string): Promise<string> {
  const library = join(folder.path, `${name}.so`);
  await run('cc', ['-O1', '-Wall', '-shared', '-fPIC', '-o', library, join(import.meta.dirname, `${name}.c`), '-ldl']);
  return library;
}
