import { readSync, writeSync } from 'node:fs';
import { encodeHeader, type Frame, lengthsIn, PREFIX_BYTES, type Reply, type Request } from './protocol.ts';

/** The child's ends, used synchronously: a probe has nothing to do but to answer, and must hang alone when it hangs. */

const STDIN = 0;
const STDOUT = 1;

/** The next request, or null when the parent is gone. */
export function receive(): Frame<Request> | null {
  const prefix = readExactly(PREFIX_BYTES);
  if (prefix === null) return null;
  const { header, body } = lengthsIn(prefix);
  const rest = readExactly(header + body);
  if (rest === null) return null;
  return { header: JSON.parse(rest.toString('utf8', 0, header)) as Request, body: rest.subarray(header) };
}

export function send(header: Reply, ...body: readonly Buffer[]): void {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  writeWhole(Buffer.concat([encodeHeader(header, bytes), ...body]));
}

function readExactly(bytes: number): Buffer | null {
  const into = Buffer.allocUnsafe(bytes);
  for (let at = 0; at < bytes; ) {
    const read = readSync(STDIN, into, at, bytes - at, null);
    if (read === 0) return null;
    at += read;
  }
  return into;
}

function writeWhole(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(STDOUT, bytes, at);
}
