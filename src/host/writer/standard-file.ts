import { fstatSync } from 'node:fs';
import { selfCommand } from '../self.ts';
import { WriterProcess } from './writer-process.ts';

/**
 * Whether stdout or stderr leads to a file, whose disk may be the one that hangs: `grab web-0 > log 2>&1` on the node's
 * root disk. Terminals, pipes and /dev/null do not. The fstat is no new risk: node does the same to each at its start.
 */
export function leadsToFile(fd: 1 | 2): boolean {
  return fstatSync(fd).isFile();
}

/** Writes to such a file in a writer, since it may hang. Resolves to null when it is out, else to the reason. */
export async function writeToFile(fd: 1 | 2, text: string, deadlineMs: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const place = { kind: 'stdout', fd, why: 'a standard stream leads to a file' } as const;
  const writer = new WriterProcess(selfCommand(), place, { onSealed: () => resolve(null), onFailed: resolve });
  const timer = setTimeout(() => {
    writer.abandon();
    resolve(`no answer within ${deadlineMs} ms`);
  }, deadlineMs);
  writer.write(Buffer.from(text));
  writer.seal();
  return promise.finally(() => clearTimeout(timer));
}
