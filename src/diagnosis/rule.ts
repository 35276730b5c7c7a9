import type { Citation } from './citation.ts';
import type { Facts } from './facts.ts';

export type { Citation } from './citation.ts';

/**
 * - `proved`: all of the proof is in the bundle
 * - `likely`: part of it, and nothing against it
 * - `possible`: fits, and no more
 *
 * No stall younger than 5 s is more than `possible` (see `verdictAt`).
 */
export type Verdict = 'proved' | 'likely' | 'possible';

/**
 * A thing that one finding waits for and another is about. Findings are joined into the wait chain where both name the
 * same thing, so a rule names what it has proved and nothing else.
 *
 * - `belief:<container id>`: what CRI or docker says of a container
 * - `task:<container id>`: an operation of containerd on a task: Delete after its exit, Create, Start
 * - `lock:<shim pid>:<address>`: a mutex of the shim
 * - `goroutine:<shim or daemon pid>:<goroutine>`
 * - `thread:<tid>`, `process:<pid>`
 * - `filesystem:<major:minor>`: a superblock
 * - `device:<name>`: a block device
 * - `cgroup:<path>`, `fuse:<connection>`, `pod:<namespace>/<name or uid>`, `daemon:<pid>`
 */
export type Part =
  | `belief:${string}`
  | `task:${string}`
  | `lock:${number}:${string}`
  | `goroutine:${number}:${number}`
  | `thread:${number}`
  | `process:${number}`
  | `filesystem:${string}`
  | `device:${string}`
  | `cgroup:${string}`
  | `fuse:${string}`
  | `pod:${string}`
  | `daemon:${number}`;

/** One step of the wait chain, as a finding contributes it. A finding may have several: a thread, and what that thread syncs. */
export interface Link {
  /**
   * A clause without capital letter and full stop that reads on after ` ← `: `thread 2631 in D in umount2, never moved`,
   * `device at 100 % for the whole sample, 4.0 MB/s`.
   */
  readonly says: string;
  /** What the clause is about. */
  readonly about: readonly Part[];
  /** What it waits for; empty where it is the end: a cause, or nothing more is known. */
  readonly waitsFor: readonly Part[];
}

/** What a rule found. */
export interface Finding {
  readonly verdict: Verdict;
  /** One sentence an on-call engineer can act on. */
  readonly says: string;
  /** At least one. */
  readonly because: readonly Citation[];
  /** What to do, or to capture next time; one imperative sentence each. */
  readonly next: readonly string[];
  /** How long it has lasted at the time of the capture; null for what is no wait (a leak, a lost event without a time). */
  readonly ageMs: number | null;
  /** Where that comes from: `the scheduler's clock of thread 2631`; null with `ageMs`. */
  readonly ageFrom: string | null;
  readonly links: readonly Link[];
  /**
   * It tells why it lasts by itself (so much to write, at such a rate): what it waits for in the wait chain adds to that and is no
   * other cause. Else the end of the chain is what a reader is told first.
   */
  readonly tellsWhy?: boolean;
}

/** The facts with those that a rule needs certainly there. The others may be null. */
export type FactsWith<K extends keyof Facts> = Omit<Facts, K> & { readonly [P in K]: NonNullable<Facts[P]> };

/** One kind of stall. Pure: facts in, findings out. Written with `defineRule`. */
export interface Rule<K extends keyof Facts = keyof Facts> {
  /** `overlay-umount-sync`, also the name of docs/rules/<id>.md. */
  readonly id: string;
  readonly title: string;
  /**
   * - `stall`: something waits. Only these make a verdict
   * - `context`: true and worth a line, but no wait of this pod by itself (a leak, another pod's OOM, version trouble)
   */
  readonly kind: 'stall' | 'context';
  /** Without one of these the rule is not applicable, which is not the same as clean. */
  readonly needs: readonly K[];
  /** At least one of these, where several sources can carry the proof. */
  readonly needsOneOf?: readonly (keyof Facts)[];
  /**
   * What is missing inside of the facts it needs, in words (`kernel stacks: no right to read them`). Anything in it makes the rule
   * not applicable.
   */
  lacks?(facts: FactsWith<K>): readonly string[];
  judge(facts: FactsWith<K>): Iterable<Finding>;
}

/** A rule among others: the engine checks `needs` before it calls `judge`, so the narrower type may be forgotten. */
export type AnyRule = Omit<Rule<never>, 'needs' | 'judge' | 'lacks'> & {
  readonly needs: readonly (keyof Facts)[];
  lacks?(facts: Facts): readonly string[];
  judge(facts: Facts): Iterable<Finding>;
};

/** Keeps the connection of `needs` and `judge` while a rule is written, and forgets it behind. */
export function defineRule<const K extends keyof Facts>(rule: Rule<K>): AnyRule {
  return rule as unknown as AnyRule;
}

/** Below this a stall is a slow moment: it may be `possible`, no more. */
export const MIN_STALL_MS = 5000;

/** The verdict that an age allows. An unknown age never proves a stall. */
export function verdictAt(ageMs: number | null, verdict: Verdict): Verdict {
  if (ageMs !== null && ageMs >= MIN_STALL_MS) return verdict;
  return 'possible';
}
