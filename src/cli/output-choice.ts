import type { OutputChoice } from '../capture/places.ts';
import { EXIT, StallcapError } from '../errors.ts';

/** `-o`: none, `-`, or a path. A tar on a terminal is refused: nobody means that. So is a second thing on stdout. */
export function outputChoice(
  given: string | undefined,
  stdout: { readonly isTerminal: boolean; readonly json: boolean },
): OutputChoice {
  if (given === undefined) return { kind: 'default' };
  if (given !== '-') return { kind: 'path', path: given };
  if (stdout.json) {
    throw new StallcapError('-o - and --json both want stdout.', {
      ...{ code: 'stdout-taken', exit: EXIT.usage },
      next: ['Leave one of them out; manifest.json in the bundle has all that --json says.'],
    });
  }
  if (!stdout.isTerminal) return { kind: 'stdout' };
  throw new StallcapError('The bundle is binary and stdout is a terminal.', {
    ...{ code: 'stdout-is-terminal', exit: EXIT.usage },
    next: ['Redirect it (-o - > web-0.tgz), or name a file: -o web-0.tgz'],
  });
}
