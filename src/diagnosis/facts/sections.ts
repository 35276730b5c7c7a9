/** One file of an entry that holds many (`concatenate` of the collectors, the layout of `tail -n +1`). */
export interface Section {
  readonly path: string;
  readonly text: string;
  /** Line of its first content line, from 1. */
  readonly line: number;
}

const HEADING = /^==> (.+) <==$/;

/** Undoes `==> /sys/block/vda/queue/scheduler <==`, content, blank line. A file that could not be read says so in its text. */
export function parseSections(text: string): readonly Section[] {
  const sections: { path: string; lines: string[]; line: number }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const path = HEADING.exec(line)?.[1];
    if (path !== undefined) sections.push({ path, lines: [], line: index + 2 });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ path, lines, line }) => ({ path, line, text: lines.join('\n').trimEnd() }));
}
