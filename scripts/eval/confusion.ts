import type { Judged } from '../../test/lab/eval/judged.ts';

/** Where the evidence comes from. Captures are of real runs, cut down to a fixture; what is written by hand is text. */
export type Origin = 'lab' | 'captured' | 'written';

/** One thing that was made, and what a report says of it. */
export interface Row extends Judged {
  readonly origin: Origin;
  readonly kind: string;
  readonly how: string;
  /** It is no stall of the pod: the report is to be silent. */
  readonly isSilent: boolean;
}

const SEEN = ['proved', 'likely', 'possible', 'none'] as const;
const WIDTHS = [9, 24, 24, 10, 20] as const;

/** Kind made × verdict, a line for each, and below it the sums by origin. */
export function confusionTable(rows: readonly Row[]): string {
  const lines = rows.map(({ origin, kind, named, verdict, chainEnd, wrong, how }) =>
    columns([origin, kind, named ?? '-', verdict, chainEnd ?? '-'], wrong === null ? how : `WRONG: ${wrong}`),
  );
  const sums = [...Map.groupBy(rows, ({ origin, isSilent }) => `${origin}, ${isSilent ? 'no stall' : 'stalls'}`)];
  return [
    columns(['from', 'kind made', 'named first', 'verdict', 'chain ends at'], 'how it was made'),
    ...lines,
    '',
    `${'from'.padEnd(22)}${['made', 'right', ...SEEN, 'wrong'].map(title => title.padStart(9)).join('')}`,
    ...sums.map(
      ([name, of]) =>
        `${name.padEnd(22)}${countsOf(of)
          .map(count => String(count).padStart(9))
          .join('')}`,
    ),
  ].join('\n');
}

function columns(cells: readonly string[], last: string): string {
  return `${cells.map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0)).join(' ')} ${last}`;
}

function countsOf(rows: readonly Row[]): readonly number[] {
  const right = rows.filter(({ wrong }) => wrong === null).length;
  return [
    rows.length,
    right,
    ...SEEN.map(seen => rows.filter(({ verdict }) => verdict === seen).length),
    rows.length - right,
  ];
}
