/** A place in the bundle that a claim rests on. Made by `cite`. */
export interface Citation {
  /** Path in the bundle: `shim/threads-1.txt`. */
  readonly entry: string;
  /** From 1; null where a line tells nothing (a value of manifest.json, an entry that is empty). */
  readonly line: number | null;
  /** As it stands there, or what matters of it (of a goroutine its heading and calls), at most 300 characters. */
  readonly text: string;
}

const MAX_TEXT = 300;

/** A citation with its text cut to what a reader wants to see. `line` from 1. */
export function cite(entry: string, line: number | null, text: string): Citation {
  const flat = text.replace(/[\r\n\t]+/g, ' ').trim();
  return { entry, line, text: flat.length <= MAX_TEXT ? flat : `${flat.slice(0, MAX_TEXT - 1)}…` };
}
