import type { Frame } from '../frames.ts';
import type { Reply, Request } from './protocol.ts';

/** One request of the program, which may take more than one probe to answer. */
export interface Job {
  /** 'files', 'sweep', …: for the record of a probe that hung in it. */
  readonly name: string;
  /** May be asked again when its probe died: it changes nothing on the node. */
  readonly repeatable: boolean;
  /** To be silent is its nature: it waits for something, and does not hang. */
  readonly waits: boolean;
  /** What is still to be asked; null when nothing is left. `hangs`: how many probes hang already in a kind of read. */
  request(hangs: (kind: string) => number): Request | null;
  /** Called for each frame but `done`. */
  take(frame: Frame<Reply>): void;
  /** Called with the frame that ends it. */
  finish(frame: Frame<Reply>): void;
  /** The item with this index, or where it is unknown the next one, brought nothing in time. */
  giveUp(index: number | null, why: GivenUp): void;
  /** Path, argv: for the record. */
  describe(index: number | null): string;
  /** What kind of read an item is: after some hangs the same kind is not tried again. `openFile`: as in GivenUp. */
  kindOf(index: number | null, openFile: string | null): string;
}

export interface GivenUp {
  /** `timeout`: it hung. `error`: the probe died of it. */
  readonly outcome: 'timeout' | 'error';
  readonly detail: string;
  /** The file that a hanging probe has open, when there is one. */
  readonly openFile: string | null;
}

/** So many probes may hang in one kind of read; each costs a process that may never end. */
export const MOST_HANGS = 4;

export const notTried = (hangs: number): string => `not tried: ${hangs} probes already hang in this kind of read`;
