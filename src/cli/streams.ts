/** How long the last words may take to leave, ms. */
const LAST_WORDS_MS = 500;

/**
 * Makes stdout and stderr safe to write to from a run that must end on time.
 * - Node makes a terminal's descriptor blocking: with output stopped (Ctrl-S, an SSH session that hangs) a write would
 *   hold the event loop, deadlines included. Here what does not fit waits in memory instead.
 * - A reader that is gone (`| head -1`) is no failure, and oclif's own listener throws for every other error: results
 *   report theirs through the callback of the write (result.ts), words on stderr have nobody left to tell.
 */
export function neverWaitForStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => {});
    if (stream.isTTY) terminalHandle(stream)?.setBlocking(false);
  }
}

/** Waits until stderr has taken everything, but not for one that takes nothing. */
export async function lastWords(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LAST_WORDS_MS);
  process.stderr.write('', () => resolve());
  await promise;
  clearTimeout(timer);
}

/** tty.WriteStream has no public way to undo the `setBlocking(true)` of its constructor (lib/tty.js). */
function terminalHandle(stream: NodeJS.WriteStream): { setBlocking(blocking: boolean): void } | undefined {
  return (stream as { _handle?: { setBlocking(blocking: boolean): void } })._handle;
}
