import { commands } from '../commands/index.ts';
import { createProgram } from '../src/cli/program.ts';
import { leadsToFile, writeToFile } from '../src/host/writer/standard-file.ts';

/** Where the registry of commands, the frame that runs them and the machine's streams meet. */
export const { run } = createProgram(commands, { leadsToFile, writeToFile });
