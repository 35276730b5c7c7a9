import { commands } from '../commands/index.ts';
import { createProgram } from '../src/cli/program.ts';

/** Where the registry of commands and the frame that runs them meet. */
export const { run } = createProgram(commands);
