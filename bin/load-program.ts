import type { Program } from '../src/cli/program.ts';
import { loadBundle } from './load-bundle.ts';

/** Set by scripts/build.ts; missing when `node bin/main.ts` runs the sources as they are. */
declare const STALLCAP_BUNDLED: true | undefined;

/** The program: oclif, the commands and all below. Call it after the first look was taken. */
export async function loadProgram(): Promise<Program> {
  if (typeof STALLCAP_BUNDLED === 'undefined') return import('./program.ts');
  return loadBundle('program') as Program;
}
