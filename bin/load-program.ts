import type { Program } from '../src/cli/program.ts';
import { loadBundle, runsFromSource } from './load-bundle.ts';

/** The program: oclif, the commands and all below. Call it after the first look was taken. */
export async function loadProgram(): Promise<Program> {
  return runsFromSource ? import('./program.ts') : (loadBundle('program') as Program);
}
