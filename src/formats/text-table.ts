import { printable } from './escape.ts';

/** Rows that a terminal of this many columns shows unbroken. */
const WIDTH = 100;
const GAP = 2;
/** No column is cut below this. */
const LEAST = 8;

/**
 * A table for a terminal: cells made safe to show, columns aligned, at most 100 characters wide. What does not fit is taken
 * from the widest columns, in the middle of their cells, where names differ least.
 */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [titles, ...rows.map(row => row.map(printable))];
  const widths = fitted(titles.map((_, column) => Math.max(...cells.map(row => row[column]?.length ?? 0))));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd();
  return `${cells.map(line).join('\n')}\n`;
}

function fitted(wanted: readonly number[]): readonly number[] {
  const widths = [...wanted];
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP * (widths.length - 1);
  while (total() > WIDTH) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= LEAST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function cut(cell: string, width: number): string {
  if (cell.length <= width) return cell;
  const head = Math.ceil((width - 1) / 2);
  return `${cell.slice(0, head)}…${cell.slice(cell.length - (width - 1 - head))}`;
}
