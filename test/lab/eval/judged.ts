/** Whether a report names what was made. */
import { readFileSync } from 'node:fs';
import type { Verdict } from '../../../src/diagnosis/rule.ts';
import { readReport } from '../../../src/report/read-report.ts';
import type { Report } from '../../../src/report/report.ts';

/** What a report must say: a stall of one of these kinds first, as surely as this at least; or nothing. */
export type Expected =
  | 'silence'
  | {
      /** The first finding. Several where each of them is the truth, and what was seen decides. */
      readonly rule: string | readonly string[];
      readonly atLeast: Verdict;
      /** Rule of the last step of the wait chain. Default: one of `rule`. */
      readonly chainEnd?: string | readonly string[];
      /** Of the whole node others may hang as well: it may stand anywhere among the findings. */
      readonly anywhere?: true;
    };

export interface Judged {
  /** Rule of the first stall, or of the one that was looked for; null for none. */
  readonly named: string | null;
  readonly verdict: Verdict | 'none';
  /** Rule of the last step of the wait chain. */
  readonly chainEnd: string | null;
  /** Null when it is right; else what is wrong, in one sentence. */
  readonly wrong: string | null;
}

export async function reportOfFile(file: string): Promise<Report> {
  const { report } = await readReport(async function* read() {
    yield readFileSync(file);
  });
  return report;
}

const ORDER: readonly (Verdict | 'none')[] = ['none', 'possible', 'likely', 'proved'];

export function judgeReport(
  report: Pick<Report, 'findings' | 'chain' | 'outcome' | 'unexplained'>,
  expected: Expected,
): Judged {
  const stalls = report.findings.filter(({ kind }) => kind === 'stall');
  const chainEnd = report.chain?.steps.at(-1)?.rule ?? null;
  if (expected === 'silence') {
    const [first] = stalls;
    const { verdict = 'none', rule: named = null } = first ?? {};
    const standing = report.unexplained.map(({ comm, tid }) => `${comm} ${tid}`);
    const isSilent = report.outcome === 'none';
    const wrong = isSilent
      ? null
      : `should be silent, and says ${named ?? `that something stands still: ${standing}`} (${verdict})`;
    return { named: isSilent ? null : (named ?? 'unexplained'), verdict: isSilent ? 'none' : verdict, chainEnd, wrong };
  }
  const rules = [expected.rule].flat();
  const found = (expected.anywhere === true ? stalls.find(({ rule }) => rules.includes(rule)) : undefined) ?? stalls[0];
  const { rule: named = null, verdict = 'none' } = found ?? {};
  return { named, verdict, chainEnd, wrong: wrongOf({ named, verdict, chainEnd }, rules, expected) };
}

function wrongOf(
  { named, verdict, chainEnd }: Pick<Judged, 'named' | 'verdict' | 'chainEnd'>,
  rules: readonly string[],
  expected: Exclude<Expected, 'silence'>,
): string | null {
  if (named === null || !rules.includes(named))
    return `should be ${rules.join(' or ')}, and is ${named ?? 'not named'}`;
  if (ORDER.indexOf(verdict) < ORDER.indexOf(expected.atLeast))
    return `should be ${expected.atLeast}, and is ${verdict}`;
  const ends = expected.chainEnd === undefined ? rules : [expected.chainEnd].flat();
  const isOpen = expected.anywhere === true || expected.atLeast === 'possible';
  if (!isOpen && !ends.includes(chainEnd ?? 'nothing'))
    return `the chain should end at ${ends.join(' or ')}, and ends at ${chainEnd ?? 'nothing'}`;
  return null;
}
