import { cannotStartChild, FILE_MS, type FileStreams } from './file-streams.ts';

export interface HeldWords {
  /** Writes what was said so far. What the file does not take in time is lost: the capture is worth more than its log. */
  release(): Promise<void>;
}

/** Keeps what is written to stderr in memory until it is released: a log file must not hold the run that it is of. */
export function holdWords(files: FileStreams): HeldWords {
  const direct = process.stderr.write.bind(process.stderr);
  let held = '';
  process.stderr.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    held += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = more.find(argument => typeof argument === 'function');
    if (written) process.nextTick(written as () => void);
    return true;
  };
  // A run that ended without releasing them: somebody has to say why.
  process.on('exit', () => {
    process.stderr.write = direct;
    if (held !== '') direct(held);
  });
  return {
    async release() {
      const text = held;
      held = '';
      if (text === '') return;
      const reason = await files.writeToFile(2, text, FILE_MS);
      if (cannotStartChild(reason)) direct(text);
    },
  };
}
