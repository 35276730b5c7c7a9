import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import { reportOf } from '../../../src/report/report.ts';
import { judgeReport } from '../../lab/eval/judged.ts';
import { bundleNames, factsOfBundle } from '../fixture-bundle.ts';
import { CAPTURED } from './expected.ts';

describe('a capture of a real run', () => {
  it.each(Object.entries(CAPTURED))('of %s is named right', (name, expected) => {
    const facts = factsOfBundle(name);
    expect(judgeReport(reportOf(facts, diagnose(facts)), expected).wrong).toBeNull();
  });

  it('is expected to say something, each of them', () => {
    expect(Object.keys(CAPTURED).toSorted()).toEqual(bundleNames().toSorted());
  });
});
