import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import { reportOf } from '../../../src/report/report.ts';
import { judgeReport } from '../../lab/eval/judged.ts';
import { WRITTEN } from './bundles.ts';

describe('what the lab cannot make, written by hand', () => {
  it.each(WRITTEN)('$kind: $how', ({ facts, expected }) => {
    const made = facts();
    expect(judgeReport(reportOf(made, diagnose(made)), expected).wrong).toBeNull();
  });
});
