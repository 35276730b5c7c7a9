import { EXIT } from '../errors.ts';

/** How long a run may still take after a stray failure, ms: longer than the default deadline of a grab. */
const GRACE_MS = 40_000;

/**
 * Failures that no promise of the run carries: an 'error' event without a listener, a rejection that nobody awaits.
 * Node would end the process on the spot, and what was captured so far would never be sealed. So the run goes on to
 * its end, and is then reported as a fault; one that does not end is given up after a grace.
 */
export async function withStrays<T>(run: () => Promise<T>): Promise<T> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  givenUp.catch(() => {});
  let first: { readonly error: unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stray = (error: unknown) => {
    first ??= { error };
    timer ??= setTimeout(reject, GRACE_MS, first.error);
  };
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  process.on('exit', endedWithoutAnswer);
  try {
    const result = await Promise.race([run(), givenUp]);
    if (first) throw first.error;
    return result;
  } finally {
    clearTimeout(timer);
    process.off('uncaughtException', stray);
    process.off('unhandledRejection', stray);
    process.off('exit', endedWithoutAnswer);
  }
}

/** A run that waits for something that can no longer happen: node would end without a word, and with 0. */
function endedWithoutAnswer(): void {
  process.exitCode = EXIT.fault;
  process.stderr.write('Error: stallcap itself failed: it ended before it had an answer.\n');
}
