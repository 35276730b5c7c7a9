import type { Belief } from '../../diagnosis/facts.ts';
import type { Report } from '../report.ts';
import { containerLabel } from '../views.ts';

/** Null: it was not asked, or did not say. */
export interface ChangedView {
  readonly container: string;
  readonly source: string;
  readonly before: Belief | null;
  readonly after: Belief | null;
}

/** Who says something else of a container than before. */
export function viewsBetween(a: Report, b: Report): readonly ChangedView[] {
  const wordsOf = ({ views }: Report) =>
    new Map(
      views.flatMap(table =>
        table.views.map(
          ({ source, says }) => [`${table.id}\0${source}`, { container: containerLabel(table), source, says }] as const,
        ),
      ),
    );
  const [before, after] = [wordsOf(a), wordsOf(b)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(key => {
    const [was, is] = [before.get(key), after.get(key)];
    const { container, source } = is ?? was ?? { container: '', source: '' };
    return was?.says === is?.says ? [] : [{ container, source, before: was?.says ?? null, after: is?.says ?? null }];
  });
}
