/**
 * A stretch of text that is to be replaced: `from` inclusive, `to` exclusive. One that ends with the text may go on
 * behind it, also an empty one.
 */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** 'password', 'jwt', … : what the replacement and the counts call it. */
  readonly kind: string;
  /** Put quotes around the replacement: a number in JSON becomes a string. */
  readonly quote?: boolean;
}

/**
 * One kind of secret. Where the three letters of a trigger are met and `head` matches, `find` is asked for the secret.
 *
 * What keeps the whole scan linear: `find` looks at a bounded number of characters, or at those that it returns as a
 * span, which are not looked at again. And no expression repeats an alternative without bound: V8 keeps a stack entry
 * for each round, and 16 MiB of them are too many.
 */
export interface Detector {
  /** Three letters each, lower case, rare in logs: see triggers.ts. */
  readonly triggers: readonly string[];
  /** How far behind the beginning of the head the trigger stands; 0 when not given. */
  readonly offset?: number;
  /** Sticky, without regard to case. */
  readonly head: RegExp;
  /** `at` to `end` is the head. An empty list: it only looked like one. */
  find(text: string, at: number, end: number): readonly Span[];
}

export const NOTHING: readonly Span[] = [];

/** Group 1 of a sticky expression as a span. */
export function spanOfGroup(pattern: RegExp, text: string, at: number, kind: string): readonly Span[] {
  pattern.lastIndex = at;
  const [from, to] = pattern.exec(text)?.indices?.[1] ?? [];
  return from === undefined || to === undefined ? NOTHING : [{ from, to, kind }];
}
