import { basename } from 'node:path';
import type { AttachedText } from '../diagnosis/facts.ts';
import { EXIT, StallcapError } from '../errors.ts';

const MAX_BYTES = 4 << 20;

/**
 * Reads a file that the user names with --attach.
 *
 * @param open openFile of src/host
 * @throws StallcapError, usage: the file cannot be read
 */
export async function attachedFile(
  path: string,
  open: (path: string, maxBytes: number) => Promise<{ readonly text: string; readonly mtimeMs: number }>,
): Promise<AttachedText> {
  try {
    const { text, mtimeMs } = await open(path, MAX_BYTES);
    return { name: basename(path), text, writtenAt: mtimeMs };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new StallcapError(`${path} cannot be attached: ${code}.`, {
      ...{ code: 'unreadable-file', exit: EXIT.usage, cause: error },
    });
  }
}
