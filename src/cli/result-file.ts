import { basename, dirname, resolve } from 'node:path';
import { EXIT, StallcapError } from '../errors.ts';
import type { Output, Place } from '../host/output.ts';

/** For the disk to take a report; the writer is a child, so a disk that hangs costs this and no more. */
const DEADLINE_MS = 30_000;

/**
 * Writes what a command made to a file that the user named: under its name when it is whole, never in part.
 *
 * @param openOutput of src/host/writer
 * @returns its absolute path
 * @throws StallcapError when nothing was written
 */
export async function writeResultFile(
  path: string,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  openOutput: (places: readonly Place[]) => Output,
): Promise<string> {
  const whole = resolve(path);
  if (path.endsWith('/')) {
    throw new StallcapError(`${path} is a directory.`, { code: 'bad-value', exit: EXIT.usage, next: ['Name a file.'] });
  }
  const place: Place = { kind: 'file', dir: dirname(whole), name: basename(whole), why: 'named by -o' };
  const output = openOutput([place]);
  for await (const chunk of chunks) output.write(chunk);
  try {
    return (await output.seal(DEADLINE_MS)).path ?? whole;
  } catch (error) {
    if (!String(error).includes('EEXIST')) throw error;
    throw new StallcapError(`${path} is there already.`, {
      ...{ code: 'file-exists', exit: EXIT.usage, cause: error },
      next: ['Remove it, or name another file; nothing is overwritten.'],
    });
  }
}
