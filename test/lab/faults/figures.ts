import type { TestContext } from 'vitest';

/** What a test has measured; scripts/test/figures.ts puts it together at the end of the run. */
export interface Figures {
  /** How long after its --timeout a run had ended, pipes and all; below 0: before it. */
  readonly overtimeMs?: number;
  /** Runs that were killed, and those of which what was written could be used. */
  readonly killed?: number;
  readonly survived?: number;
  /** Runs whose probe or writer was killed; each has sealed a whole bundle. */
  readonly robbed?: number;
  /** Runs in a row without a leak. */
  readonly inARow?: number;
  /** Secrets of the corpus, and those of them that were taken out. */
  readonly secrets?: number;
  readonly secretsFound?: number;
  /** Bundles that were cut, altered or made up, and verified. */
  readonly fuzzRuns?: number;
}

declare module 'vitest' {
  interface TaskMeta {
    figures?: Figures[];
  }
}

export function note({ task }: Pick<TestContext, 'task'>, figures: Figures): void {
  task.meta.figures = [...(task.meta.figures ?? []), figures];
}
