import type { FileStreams } from './file-streams.ts';
import { holdWords } from './held-words.ts';
import { writeResult } from './result.ts';

/** How long the last words may take to leave, ms. */
const LAST_WORDS_MS = 500;

export interface Streams {
  /** To be called when a library was loaded that may have put listeners of its own on the streams. */
  calm(): void;
  /** The result, whole, on stdout. Throws a StallcapError when it was not taken. */
  result(text: string): Promise<void>;
  /** Lets the last words leave, as far as they move. */
  close(): Promise<void>;
}

/**
 * Makes stdout and stderr safe to write to from a run that must end on time.
 * - Node makes a terminal's descriptor blocking: with output stopped (Ctrl-S, an SSH session that hangs) a write would
 *   hold the event loop, deadlines included. Here what does not fit waits in memory instead.
 * - A file may lie on the disk that hangs: it is written to at the end only, and by a child (held-words.ts).
 * - A reader that is gone (`| head -1`) is no failure, nor is a terminal that was hung up, and oclif's own listener throws
 *   for the latter: results report their errors through the callback of the write (result.ts), words on stderr have
 *   nobody left to tell.
 */
export function openStreams(files: FileStreams): Streams {
  calm();
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.isTTY) terminalHandle(stream)?.setBlocking(false);
  }
  const words = files.leadsToFile(2) ? holdWords(files) : null;
  return {
    calm,
    async result(text) {
      // Both may lead to one file, and words come before the result.
      if (text !== '') await words?.release();
      await writeResult(text, files);
    },
    async close() {
      await words?.release();
      await drained();
    },
  };
}

function calm(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => {});
  }
}

/** Waits until stderr has taken everything, but not for one that takes nothing. */
async function drained(): Promise<void> {
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
