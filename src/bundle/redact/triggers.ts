/**
 * Finds places that begin like a secret, in one pass over the text that looks at two letters in three (Wu and Manber,
 * "A fast algorithm for multi-pattern searching", 1994, with blocks of two letters). A regular expression with all the
 * heads as alternatives took fifteen times as long.
 */
export interface Trigger<T> {
  /** Three letters, lower case; met in any case. */
  readonly letters: string;
  readonly value: T;
}

export interface TriggerIndex<T> {
  /** The first place at or behind `from` where three letters of a trigger stand; -1 when there is none. */
  next(text: string, from: number): number;
  at(text: string, index: number): readonly T[];
}

const LETTERS = 3;

export function indexTriggers<T>(triggers: readonly Trigger<T>[]): TriggerIndex<T> {
  /** By two letters: how far the third letter of a trigger is ahead at least; 0 when they may be its last two. */
  const shift = new Uint8Array(1 << 16).fill(LETTERS - 1);
  const values = new Map<number, T[]>();
  for (const { letters, value } of triggers) {
    if (letters.length !== LETTERS) throw new RangeError(`a trigger has ${LETTERS} letters: ${letters}`);
    for (const [a, b, c] of inAnyCase(letters)) {
      const key = (a << 16) | (b << 8) | c;
      values.set(key, [...(values.get(key) ?? []), value]);
      shift[(a << 8) | b] = Math.min(shift[(a << 8) | b] as number, 1);
      shift[(b << 8) | c] = 0;
    }
  }
  const keyAt = (text: string, index: number): number => {
    const a = text.charCodeAt(index);
    const b = text.charCodeAt(index + 1);
    const c = text.charCodeAt(index + 2);
    return (a | b | c) > 0xff ? -1 : (a << 16) | (b << 8) | c;
  };
  return {
    next(text, from) {
      const end = text.length;
      let last = from + LETTERS - 1;
      while (last < end) {
        // A letter outside Latin-1 may be taken for another here, not by keyAt.
        const step = shift[((text.charCodeAt(last - 1) & 0xff) << 8) | (text.charCodeAt(last) & 0xff)] as number;
        if (step > 0) {
          last += step;
        } else if (values.has(keyAt(text, last - 2))) {
          return last - 2;
        } else {
          last++;
        }
      }
      return -1;
    },
    at: (text, index) => values.get(keyAt(text, index)) ?? [],
  };
}

function inAnyCase(letters: string): (readonly [number, number, number])[] {
  const cases = [...letters].map(letter => [...new Set([letter.toLowerCase(), letter.toUpperCase()])]);
  const [first = [], second = [], third = []] = cases.map(both => both.map(letter => letter.charCodeAt(0)));
  return first.flatMap(a => second.flatMap(b => third.map(c => [a, b, c] as const)));
}
