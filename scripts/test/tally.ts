import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/** What became of everything that was checked. */
export interface Tally {
  passed: number;
  failed: number;
  /** One line for each test that did not run, with the reason. */
  readonly skipped: string[];
  /** One line for each test that passed, but not at once. */
  readonly again: string[];
}

/**
 * Counts as vitest ends. A file that cannot be loaded, a hook that fails and an error that no test owns are failures
 * too: a run in which a file is silently missing must not look green.
 */
export class TallyReporter implements Reporter {
  readonly tally: Tally = { passed: 0, failed: 0, skipped: [], again: [] };

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    this.tally.failed += unhandled.length;
    for (const module of modules) {
      this.#countErrors(module);
      for (const suite of module.children.allSuites()) this.#countErrors(suite);
      for (const test of module.children.allTests()) this.#countTest(test);
    }
  }

  #countErrors(scope: TestModule | TestSuite): void {
    this.tally.failed += scope.errors().length;
  }

  #countTest(test: TestCase): void {
    const result = test.result();
    const retries = test.diagnostic()?.retryCount ?? 0;
    if (result.state === 'passed' && retries > 0) this.tally.again.push(`${test.fullName}: after ${retries} failures`);
    if (result.state === 'passed') this.tally.passed += 1;
    else if (result.state === 'failed') this.tally.failed += 1;
    // `pending` at the end: it was cut off.
    else if (result.state === 'pending') this.tally.failed += 1;
    else this.tally.skipped.push(`${test.fullName}: ${result.note ?? 'no reason given'}`);
  }
}
