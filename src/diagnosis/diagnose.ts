import { distances } from './causes.ts';
import { type WaitChain, waitChain } from './chain.ts';
import type { FactName, Facts } from './facts.ts';
import type { JudgedFinding } from './judged-finding.ts';
import { type AnyRule, type Finding, MIN_STALL_MS, type Part, type Verdict, verdictAt } from './rule.ts';
import { rules as allRules } from './rules/index.ts';
import { type Standing, standingThreads } from './standing-threads.ts';

/** A rule that had nothing to judge by: not the same as clean. */
export interface NotApplicable {
  readonly rule: string;
  readonly title: string;
  /** What was not captured, in words. */
  readonly missing: readonly string[];
}

/**
 * - `stall`: a stall is named, proved or likely
 * - `unexplained`: a thread of the pod stands still, and none of the kinds is it; or a kind is possible at most
 * - `none`: no stall found
 */
export type Outcome = 'stall' | 'unexplained' | 'none';

export interface Diagnosis {
  readonly outcome: Outcome;
  /**
   * Stalls before context. Of stalls that are proved or likely, causes before what waits for them (the first is the end of the wait
   * chain), then what is surest, then what has lasted longest.
   */
  readonly findings: readonly JudgedFinding[];
  readonly chain: WaitChain | null;
  /** Rules that had all they need and found nothing. */
  readonly ruledOut: readonly { readonly rule: string; readonly title: string }[];
  readonly notApplicable: readonly NotApplicable[];
  /** Threads of the pod that stand still where nobody idles, and that no finding is about. */
  readonly unexplained: readonly Standing[];
  /** Rules that failed: a fault of stallcap, and no reason to lose what the others found. */
  readonly failed: readonly { readonly rule: string; readonly error: string }[];
}

/** Judges facts by all rules. Pure; the same facts give the same diagnosis. */
export function diagnose(facts: Facts, rules: readonly AnyRule[] = allRules): Diagnosis {
  const findings: JudgedFinding[] = [];
  const ruledOut: Diagnosis['ruledOut'][number][] = [];
  const notApplicable: NotApplicable[] = [];
  const failed: Diagnosis['failed'][number][] = [];
  for (const rule of rules) {
    const { id, title } = rule;
    try {
      const missing = missingFor(rule, facts);
      if (missing.length > 0) {
        notApplicable.push({ rule: id, title, missing });
        continue;
      }
      const found = [...rule.judge(facts)].map(finding => judged(rule, finding));
      if (found.length === 0) ruledOut.push({ rule: id, title });
      findings.push(...found);
    } catch (error) {
      failed.push({ rule: id, error: String(error) });
    }
  }
  const sorted = findings.toSorted(byWeight(distances(findings)));
  const unexplained = standingThreads(facts).filter(({ thread }) => !isExplained(thread.tid, sorted));
  return {
    outcome: outcomeOf(sorted, unexplained),
    findings: sorted,
    chain: waitChain(sorted, ownParts(facts)),
    ...{ ruledOut, notApplicable, unexplained, failed },
  };
}

/** Parts of the pod that was captured: its tasks, its shims, its threads. Of a node everything is. */
function ownParts({ target, threads, shims }: Facts): (part: Part) => boolean {
  if (target.target.kind === 'node') return () => true;
  const pids = new Set(shims?.map(({ pid }) => pid));
  const own = new Set<string>();
  for (const id of target.ids) for (const kind of ['belief', 'task']) own.add(`${kind}:${id}`);
  for (const { pid, tid } of threads?.all ?? []) for (const part of [`thread:${tid}`, `process:${pid}`]) own.add(part);
  return part => own.has(part) || (/^(?:goroutine|lock):/.test(part) && pids.has(Number(part.split(':')[1])));
}

function missingFor(rule: AnyRule, facts: Facts): readonly string[] {
  const missing: string[] = rule.needs.filter(name => facts[name] === null).map(factWords);
  const oneOf = rule.needsOneOf ?? [];
  if (oneOf.length > 0 && oneOf.every(name => facts[name] === null)) missing.push(oneOf.map(factWords).join(' or '));
  return missing.length > 0 ? missing : (rule.lacks?.(facts) ?? []);
}

/** No stall younger than 5 s is more than possible, whatever a rule says; and none stands without evidence. */
function judged({ id, title, kind }: AnyRule, finding: Finding): JudgedFinding {
  if (finding.because.length === 0) throw new RangeError('a finding without a citation');
  const verdict = kind === 'stall' ? verdictAt(finding.ageMs, finding.verdict) : finding.verdict;
  return { ...finding, verdict, rule: id, title, kind };
}

const RANK: Readonly<Record<Verdict, number>> = { proved: 0, likely: 1, possible: 2 };

function byWeight(far: ReadonlyMap<JudgedFinding, number>) {
  const isGuess = ({ verdict }: JudgedFinding) => Number(verdict === 'possible');
  const fromCause = (finding: JudgedFinding) => far.get(finding) ?? 0;
  return (a: JudgedFinding, b: JudgedFinding): number => {
    if (a.kind !== b.kind) return a.kind === 'stall' ? -1 : 1;
    return (
      isGuess(a) - isGuess(b) ||
      fromCause(a) - fromCause(b) ||
      RANK[a.verdict] - RANK[b.verdict] ||
      (b.ageMs ?? 0) - (a.ageMs ?? 0)
    );
  };
}

function isExplained(tid: number, findings: readonly JudgedFinding[]): boolean {
  return findings.some(
    ({ links, kind }) => kind === 'stall' && links.some(({ about }) => about.includes(`thread:${tid}`)),
  );
}

function outcomeOf(findings: readonly JudgedFinding[], unexplained: readonly Standing[]): Outcome {
  const stalls = findings.filter(({ kind }) => kind === 'stall');
  if (stalls.some(({ verdict }) => verdict !== 'possible')) return 'stall';
  const old = stalls.some(({ ageMs }) => ageMs === null || ageMs >= MIN_STALL_MS);
  return unexplained.length > 0 || old ? 'unexplained' : 'none';
}

const WORDS: Partial<Readonly<Record<FactName, string>>> = {
  threads: "threads of the pod's tree",
  nodeThreads: 'threads of the node in D (node/blocked.txt)',
  processes: 'the process table (node/processes.txt)',
  goroutines: 'a goroutine dump of the shim',
  daemonGoroutines: 'goroutine dumps of containerd (--daemons)',
  containers: 'records of the containers',
  shims: 'a shim',
  daemons: 'the process table (node/processes.txt)',
  devices: 'disk counters (node/samples.jsonl)',
  pressure: 'pressure stall information',
  dirty: 'dirty pages (meminfo)',
  writers: "I/O of the pods' cgroups",
  mounts: 'mountinfo',
  fuse: 'FUSE connections (node/fuse.txt; fusectl may not be mounted)',
  cgroups: 'cgroups of the node',
  logs: "containerd's, kubelet's or docker's log",
  kernel: "the kernel's log",
  commands: 'answers of crictl, ctr and docker',
  stuckProbes: 'the manifest',
  signals: 'the manifest',
  holders: 'who holds pipes and mounts open',
};

function factWords(name: FactName): string {
  return WORDS[name] ?? name;
}
