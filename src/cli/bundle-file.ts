import process from 'node:process';
import { EXIT, StallcapError } from '../errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a directory, not a bundle',
};

/**
 * Opens a bundle that the user named; '-' is standard input.
 *
 * @param open fileChunks of src/host
 * @throws StallcapError, usage: what is wrong with the name, before or while its bytes are read
 */
export async function* bundleFile(
  path: string,
  open: (path: string) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (path === '-' && process.stdin.isTTY) {
    throw new StallcapError('A bundle cannot be read from a terminal.', {
      ...{ code: 'stdin-is-terminal', exit: EXIT.usage },
      next: ['Pipe it in: ssh node cat bundle.tar.gz | stallcap verify -'],
    });
  }
  try {
    yield* open(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const reason = REASONS[code];
    if (reason === undefined) throw error;
    throw new StallcapError(`${path} ${reason}.`, { code: 'unreadable-bundle', exit: EXIT.usage, cause: error });
  }
}
