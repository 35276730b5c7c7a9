/** Colours of the report on a terminal; without them every function gives its text back. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly doubtful: (text: string) => string;
  readonly good: (text: string) => string;
}

const sgr = (on: number, off: number) => (text: string) => `\x1b[${on}m${text}\x1b[${off}m`;

export const COLOURS: Paint = {
  ...{ strong: sgr(1, 22), faint: sgr(2, 22), bad: sgr(31, 39), doubtful: sgr(33, 39), good: sgr(32, 39) },
};

const same = (text: string) => text;
export const PLAIN: Paint = { strong: same, faint: same, bad: same, doubtful: same, good: same };
