import type { Grabbed } from '../grab/grab.ts';
import type { Stall } from '../stalls/stall.ts';
import type { Expected } from './judged.ts';

/** One thing that is made in the lab, grabbed by the built executable, and named: a stall, or something that is none. */
export interface Case<G extends Stall> {
  /** What is made; a row of the table. */
  readonly kind: string;
  /** Number of the stall in ../README.md; null for what must be silent. */
  readonly stall: string | null;
  /** In a few words. */
  readonly how: string;
  readonly expected: Expected;
  /** Exit code of the grab. Default: 0. */
  readonly exit?: 0 | 3 | readonly (0 | 3)[];
  /** Arguments of the grab besides the target. Default: two samples. */
  readonly args?: readonly string[];
  /** Makes what is not there yet. @returns TARGET of the grab */
  begin(ground: G): string | Promise<string>;
  /** How long it has to last before it is grabbed, ms; 0 for what is not a matter of time. */
  readonly settleMs: number;
  /** Goes on while the grab runs, until `over`. */
  meanwhile?(ground: G, over: AbortSignal): Promise<void>;
  /** What the test expects of this bundle besides its name. Not looked at by `npm run eval`. */
  also?(ground: G, grabbed: Grabbed): void | Promise<void>;
  /** Where it is tested, since more is expected of that one grab than fits here. Default: eval.test.ts. */
  readonly testedIn?: string;
}

/** A containerd, or a docker, with what several cases need; made once for all of them. */
export interface Ground<G extends Stall = Stall> {
  readonly name: string;
  /** Why it cannot be made on this machine, in one sentence; null when it can. */
  unavailable?(): Promise<string | null>;
  make(): Promise<G>;
  readonly cases: readonly [Case<G>, ...Case<G>[]];
}

/** A ground among others: whoever makes it hands it to its own cases alone, so its type may be forgotten. */
export function defineGround<G extends Stall>(ground: Ground<G>): Ground {
  return ground as unknown as Ground;
}

/** Nothing younger than 5 s is a stall; some more, since ages are only as good as the clocks of the CPUs. */
export const SETTLED_MS = 7000;
