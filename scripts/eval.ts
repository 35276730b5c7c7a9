/**
 * `npm run eval`: makes every stall of the lab and what is none, grabs each with dist/stallcap, judges them and the captures in
 * test/fixtures, and prints what was made against what is said of it. The exit code is 0 when all is named right.
 * Usage: node scripts/eval.ts [--no-lab] [--keep DIR] [KIND…]
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { diagnose } from '../src/diagnosis/diagnose.ts';
import type { Facts } from '../src/diagnosis/facts.ts';
import { reportOf } from '../src/report/report.ts';
import { CAPTURED } from '../test/diagnosis/captures/expected.ts';
import { factsOfBundle } from '../test/diagnosis/fixture-bundle.ts';
import { WRITTEN } from '../test/diagnosis/written/bundles.ts';
import { type Expected, judgeReport } from '../test/lab/eval/judged.ts';
import { labUnavailable } from '../test/lab/requirements.ts';
import { confusionTable, type Origin, type Row } from './eval/confusion.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'no-lab': { type: 'boolean', default: false }, keep: { type: 'string' } },
});

const isAsked = (kind: string) => positionals.length === 0 || positionals.includes(kind);

async function lab(): Promise<readonly Row[]> {
  // They start the built executable, which may not be there when only fixtures are judged.
  const [{ evaluateGround }, { STALLS }, { SILENT }] = await Promise.all([
    import('../test/lab/eval/evaluate.ts'),
    import('../test/lab/eval/stalls.ts'),
    import('../test/lab/eval/silent.ts'),
  ]);
  const rows: Row[] = [];
  for (const ground of [...STALLS, ...SILENT]) {
    const [first, ...more] = ground.cases.filter(({ kind }) => isAsked(kind));
    if (first === undefined) continue;
    const why = (await ground.unavailable?.()) ?? null;
    if (why !== null) {
      console.log(`not made: ${ground.name} (${why})`);
      continue;
    }
    const cases = [first, ...more] as const;
    for (const judged of await evaluateGround({ ...ground, cases }, keep)) {
      const made = cases.find(({ kind }) => kind === judged.kind) ?? first;
      console.log(
        `${judged.wrong === null ? 'right' : 'WRONG'}  ${judged.kind}: ${judged.named ?? 'no stall'} (${judged.verdict})`,
      );
      rows.push({ ...judged, origin: 'lab', isSilent: made.expected === 'silence' });
    }
  }
  return rows;
}

function keep(kind: string, file: string): void {
  if (values.keep === undefined) return;
  mkdirSync(values.keep, { recursive: true });
  copyFileSync(file, join(values.keep, `${kind}.tar.gz`));
}

function fixture(origin: Origin, kind: string, how: string, expected: Expected, facts: Facts): Row {
  const judged = judgeReport(reportOf(facts, diagnose(facts)), expected);
  return { ...judged, origin, kind, how, isSilent: expected === 'silence' };
}

const noLab = values['no-lab'] ? '--no-lab' : labUnavailable();
if (noLab !== null) console.log(`the lab is left out: ${noLab}`);
const rows = [
  ...(noLab === null ? await lab() : []),
  ...Object.entries(CAPTURED)
    .filter(([kind]) => isAsked(kind))
    .map(([kind, expected]) =>
      fixture('captured', kind, `test/fixtures/bundles/${kind}`, expected, factsOfBundle(kind)),
    ),
  ...WRITTEN.filter(({ kind }) => isAsked(kind)).map(({ kind, how, expected, facts }) =>
    fixture('written', kind, how, expected, facts()),
  ),
];
console.log(`\n${confusionTable(rows)}`);
process.exitCode = rows.every(({ wrong }) => wrong === null) ? 0 : 1;
