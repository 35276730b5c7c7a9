import { EXIT, StallcapError } from '../errors.ts';
import { cannotStartChild, FILE_MS, type FileStreams } from './file-streams.ts';

/**
 * Writes the result to stdout, whole, before the process ends. A reader that has gone away is no failure (`| head`);
 * a full disk is: the exit code must not say that a result is there when it is not.
 */
export async function writeResult(text: string, files: FileStreams): Promise<void> {
  if (text === '') return;
  const reason = files.leadsToFile(1) ? await files.writeToFile(1, text, FILE_MS) : await writeDirectly(text);
  const failed = cannotStartChild(reason) ? await writeDirectly(text) : reason;
  if (failed === null) return;
  throw new StallcapError(`stdout did not take the result: ${failed}.`, {
    code: 'stdout-failed',
    exit: EXIT.fault,
    next: ['Run it again with stdout going elsewhere.'],
  });
}

/** Resolves to an errno, or null. */
async function writeDirectly(text: string): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null | undefined>();
  process.stdout.write(text, resolve);
  const error = await promise;
  // EIO, of what is no file: a terminal that was hung up.
  const gone = error?.code === 'EPIPE' || error?.code === 'EIO';
  return !error || gone ? null : (error.code ?? error.message);
}

/** One JSON document as it is printed. */
export function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
