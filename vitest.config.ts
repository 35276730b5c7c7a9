import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests that stop daemons, freeze disks or load the machine: alone, one after the other, after all the rest. */
const ALONE = ['test/lab/**/*.test.ts', 'test/build/**/*.test.ts', 'test/**/*.lab.test.ts'];

export default defineConfig({
  test: {
    // Console output of tests goes where it goes: captured, it is lost when a test hangs.
    disableConsoleIntercept: true,
    restoreMocks: true,
    // Real daemons and disks on machines that others load too: what a neighbour pushed past a deadline is tried again, and
    // scripts/test.ts names it. What is wrong fails every time.
    retry: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, 'test/fixtures/**'],
          // Some work for ten seconds on two busy CPUs.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Vitest leaves one core to itself, and on two would run one file at a time; these mostly wait for processes.
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: ALONE,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
