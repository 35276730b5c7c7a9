import { printable } from '../../formats/escape.ts';

/** Columns of a terminal that nobody has made wider. */
export const WIDTH = 80;

/**
 * A text made safe for a terminal and broken at spaces, into lines of at most 80 columns; a word that is longer is broken
 * where it must. `first` stands before the first line, as many spaces before the others.
 */
export function wrap(text: string, first = '', rest = ' '.repeat(first.length)): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let empty = true;
  for (let word of printable(text).split(' ')) {
    while (word !== '') {
      const room = WIDTH - line.length - (empty ? 0 : 1);
      if (word.length <= room) {
        line += (empty ? '' : ' ') + word;
        empty = false;
        word = '';
      } else if (empty) {
        const cut = Math.max(room, 1);
        lines.push(line + word.slice(0, cut));
        word = word.slice(cut);
        line = rest;
      } else {
        lines.push(line);
        line = rest;
        empty = true;
      }
    }
  }
  if (!empty || lines.length === 0) lines.push(line);
  return lines.map(one => one.trimEnd());
}

/** One line of at most 80 columns, cut at its end. */
export function oneLine(text: string): string {
  const safe = printable(text);
  return safe.length <= WIDTH ? safe : `${safe.slice(0, WIDTH - 1)}…`;
}
