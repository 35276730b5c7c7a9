import type { Reporter, TestModule } from 'vitest/node';
import type { Figures } from '../../test/lab/faults/figures.ts';

/** Says at the end of a run what the tests of test/lab/faults have measured; nothing when none of them ran. */
export class FiguresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()]);
    const all = tests.flatMap(test => (test.meta().figures ?? []).map(figures => ({ name: test.fullName, figures })));
    for (const line of figureLines(all)) console.log(line);
  }
}

/** The longest time over the deadline and whose it was, kills survived, grabs in a row. */
export function figureLines(all: readonly { readonly name: string; readonly figures: Figures }[]): readonly string[] {
  const over = all.filter(({ figures }) => figures.overtimeMs !== undefined);
  const longest = over.reduce<(typeof over)[number] | null>(
    (most, one) =>
      (one.figures.overtimeMs ?? 0) > (most?.figures.overtimeMs ?? Number.NEGATIVE_INFINITY) ? one : most,
    null,
  );
  const sum = (field: 'killed' | 'survived' | 'inARow') =>
    all.reduce((total, { figures }) => total + (figures[field] ?? 0), 0);
  const seconds = ((longest?.figures.overtimeMs ?? 0) / 1000).toFixed(1);
  return [
    ...(longest === null
      ? []
      : [`faults: ${over.length} runs, the longest ended ${seconds} s after its --timeout (${longest.name})`]),
    ...(sum('killed') === 0 ? [] : [`faults: ${sum('survived')} of ${sum('killed')} kills survived`]),
    ...(sum('inARow') === 0 ? [] : [`faults: ${sum('inARow')} grabs in a row without a leak`]),
  ];
}
