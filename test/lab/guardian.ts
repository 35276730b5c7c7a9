/** Waits for the end of the process that holds the other end of stdin, then ends what it has left behind. */
import { sweep } from './folder.ts';

process.stdin.resume();
process.stdin.once('close', () => {
  // The owner's pid may still be there for a moment while its pipe is closed already.
  setTimeout(() => void sweep(), 500);
});
