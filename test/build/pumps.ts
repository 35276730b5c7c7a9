/** A text that may hold a pattern up: `start`, then `pump` again and again. */
export interface Pump {
  readonly start: string;
  readonly pump: string;
}

/** What patterns repeat. */
const LETTERS = [...' \t\n\0a0f/_.:=-"\\{[(,+@*~'];

/** A word of a pattern: what it matches between two of its repetitions, or choices. */
const MARK = '\u0002';

/**
 * Texts of a pattern's own words: what makes it slow begins like a match, again and again, and never ends as one. Not by its
 * syntax tree: classes stand for one of their letters, groups and choices are taken apart.
 */
export function pumpsOf(source: string): readonly Pump[] {
  const words = wordsOf(source);
  const runs = words.flatMap((_, from) => [1, 2, 3, 5].map(length => words.slice(from, from + length).join('')));
  const starts = new Set(['', ...[1, 3].map(length => words.slice(0, length).join(''))]);
  const pumps = new Set([...LETTERS, ...runs, ...words.map(word => `${word} `)].filter(pump => pump !== ''));
  return [...starts].flatMap(start => [...pumps].map(pump => ({ start, pump })));
}

const CLASSES: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ', S: 'a', D: 'a', W: ' ', b: '', B: '' };
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', 0: '\0' };

function wordsOf(source: string): readonly string[] {
  const atoms =
    source.match(/\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}\??|[\s\S]/gi) ?? [];
  return atoms
    .map(letterOf)
    .join('')
    .split(MARK)
    .filter(word => word !== '');
}

function letterOf(atom: string): string {
  if (/^\\[xu]../.test(atom)) return String.fromCharCode(Number.parseInt(atom.slice(2), 16));
  const escaped = /^\\(.)$/.exec(atom)?.[1];
  if (escaped !== undefined) return CLASSES[escaped] ?? CONTROLS[escaped] ?? escaped;
  if (atom.startsWith('[^')) return `a${MARK}`;
  if (atom.length > 2 && atom.startsWith('[')) return letterOf(/^\[(\\x..|\\.|[\s\S])/.exec(atom)?.[1] ?? 'a') + MARK;
  if (atom === '.') return `a${MARK}`;
  return /^(?:\{\d*,?\d*\}\??|[()|^$?*+])$/.test(atom) ? MARK : atom;
}
