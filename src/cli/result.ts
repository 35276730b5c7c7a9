import { EXIT, StallcapError } from '../errors.ts';

/**
 * Writes the result to stdout, whole, before the process ends. A reader that has gone away is no failure (`| head`);
 * a full disk is: the exit code must not say that a result is there when it is not.
 */
export async function writeResult(text: string): Promise<void> {
  if (text === '') return;
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null | undefined>();
  process.stdout.write(text, resolve);
  const error = await promise;
  if (!error || error.code === 'EPIPE') return;
  throw new StallcapError(`stdout did not take the result: ${error.code}.`, {
    code: 'stdout-failed',
    exit: EXIT.fault,
    next: ['Run it again with stdout going elsewhere.'],
  });
}

/** One JSON document as it is printed. */
export function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
