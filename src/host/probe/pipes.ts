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
