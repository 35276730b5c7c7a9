import { expect } from 'vitest';
import type { Stall } from '../stalls/stall.ts';
import type { Case } from './case.ts';
import { judgeReport, reportOfFile } from './judged.ts';

/** Expects that the report of a bundle names what was made; else the failure has the findings and the chain. */
export async function expectNamed({ expected }: Pick<Case<Stall>, 'expected'>, file: string): Promise<void> {
  const report = await reportOfFile(file);
  const { wrong } = judgeReport(report, expected);
  const findings = report.findings.map(({ rule, verdict, says }) => `${rule} (${verdict}): ${says}`);
  expect(
    wrong,
    [...findings, report.chain?.sentence, ...report.unexplained.map(({ comm, wchan }) => `${comm} in ${wchan}`)].join(
      '\n',
    ),
  ).toBeNull();
}
