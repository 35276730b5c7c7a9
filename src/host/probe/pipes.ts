import { receiveFrame, sendFrame } from '../blocking-pipe.ts';
import type { Frame } from '../frames.ts';
import type { Reply, Request } from './protocol.ts';

const STDIN = 0;
const STDOUT = 1;

/** The next request to this probe, or null when the parent is gone. */
export function receive(): Frame<Request> | null {
  return receiveFrame(STDIN);
}

export function send(header: Reply, ...body: readonly Buffer[]): void {
  sendFrame(STDOUT, header, ...body);
}

/**
 * Undoes what execa does when it is loaded: it asks for `process.stdin`, for which node makes the pipe non-blocking. There
 * is no public way to take that back.
 */
export function waitInReads(): void {
  (process.stdin as { _handle?: { setBlocking?(blocking: boolean): void } })._handle?.setBlocking?.(true);
}
