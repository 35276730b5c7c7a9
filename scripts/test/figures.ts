import type { Reporter, TestModule } from 'vitest/node';
import type { Figures } from '../../test/lab/faults/figures.ts';

/** Says at the end of a run what its tests have measured; nothing of those that did not run. */
export class FiguresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()]);
    const all = tests.flatMap(test => (test.meta().figures ?? []).map(figures => ({ name: test.fullName, figures })));
    for (const line of figureLines(all)) console.log(line);
  }
}

/** The longest time over the deadline and whose it was, kills survived, grabs in a row, secrets found, fuzz runs. */
export function figureLines(all: readonly { readonly name: string; readonly figures: Figures }[]): readonly string[] {
  const over = all.filter(({ figures }) => figures.overtimeMs !== undefined);
  const longest = over.reduce<(typeof over)[number] | null>(
    (most, one) =>
      (one.figures.overtimeMs ?? 0) > (most?.figures.overtimeMs ?? Number.NEGATIVE_INFINITY) ? one : most,
    null,
  );
  const sum = (field: Exclude<keyof Figures, 'overtimeMs'>) =>
    all.reduce((total, { figures }) => total + (figures[field] ?? 0), 0);
  const seconds = (longest?.figures.overtimeMs ?? 0) / 1000;
  return [
    ...(longest === null
      ? []
      : [`faults: ${over.length} runs, the last to end did so ${when(seconds)} its --timeout (${longest.name})`]),
    ...(sum('killed') === 0 ? [] : [`faults: ${sum('survived')} of ${sum('killed')} kills survived`]),
    ...(sum('robbed') === 0 ? [] : [`faults: ${sum('robbed')} grabs lost a child to SIGKILL, all of them whole`]),
    ...(sum('inARow') === 0 ? [] : [`faults: ${sum('inARow')} grabs in a row without a leak`]),
    ...(sum('secrets') === 0 ? [] : [`faults: ${sum('secretsFound')} of ${sum('secrets')} secrets found`]),
    ...(sum('fuzzRuns') === 0 ? [] : [`faults: ${sum('fuzzRuns')} cut, altered or made-up bundles, none called whole`]),
  ];
}

const when = (seconds: number): string => `${Math.abs(seconds).toFixed(1)} s ${seconds < 0 ? 'before' : 'after'}`;
