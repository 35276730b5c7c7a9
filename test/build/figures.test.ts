import { describe, expect, it } from 'vitest';
import { figureLines } from '../../scripts/test/figures.ts';

describe('the figures at the end of npm test', () => {
  it('name the run that took longest beyond its time, and add up the rest', () => {
    const all = [
      { name: 'a', figures: { overtimeMs: -4200 } },
      { name: 'b', figures: { overtimeMs: 340 } },
      { name: 'c', figures: { killed: 50, survived: 49 } },
      { name: 'c2', figures: { robbed: 12 } },
      { name: 'd', figures: { inARow: 200 } },
      { name: 'e', figures: { secrets: 3, secretsFound: 2 } },
      { name: 'f', figures: { secrets: 1, secretsFound: 1 } },
      { name: 'g', figures: { fuzzRuns: 1200 } },
    ];
    expect(figureLines(all)).toEqual([
      'faults: 2 runs, the last to end did so 0.3 s after its --timeout (b)',
      'faults: 49 of 50 kills survived',
      'faults: 12 grabs lost a child to SIGKILL, all of them whole',
      'faults: 200 grabs in a row without a leak',
      'faults: 3 of 4 secrets found',
      'faults: 1200 cut, altered or made-up bundles, none called whole',
    ]);
    expect(figureLines(all.slice(0, 1))).toEqual([
      'faults: 1 runs, the last to end did so 4.2 s before its --timeout (a)',
    ]);
  });

  it('are nothing where nothing was measured', () => {
    expect(figureLines([])).toEqual([]);
  });
});
