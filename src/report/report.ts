import type { Diagnosis, NotApplicable } from '../diagnosis/diagnose.ts';
import type { FactName, Facts, StuckProbeFact, Versions } from '../diagnosis/facts.ts';
import type { JudgedFinding } from '../diagnosis/judged-finding.ts';
import type { Citation, Verdict } from '../diagnosis/rule.ts';
import { nearestIsoTime } from '../formats/iso-time.ts';
import { type Missing, missingFrom } from './missing.ts';
import type { AttachedEvent } from './timeline/attached-events.ts';
import { type Timeline, timelineOf } from './timeline/timeline.ts';
import { type ContainerViewsTable, viewsTables } from './views.ts';

/** Everything that a report says, in any format: `report --json`, schemas/report.schema.json. Made of facts and diagnosis alone. */
export interface Report {
  readonly format: 1;
  readonly capture: ReportedCapture;
  readonly outcome: Diagnosis['outcome'];
  /** One sentence: what the pod waits for in the end, as far as it is known; or that there is no stall. */
  readonly headline: string;
  readonly findings: readonly ReportedFinding[];
  readonly chain: {
    readonly sentence: string;
    readonly steps: readonly { readonly rule: string; readonly verdict: Verdict; readonly says: string }[];
    /** Null when its last step is a cause. */
    readonly endsBefore: string | null;
  } | null;
  /** Threads that stand still and that no finding is about. */
  readonly unexplained: readonly UnexplainedThread[];
  readonly views: readonly ContainerViewsTable[];
  readonly timeline: Timeline;
  readonly ruledOut: readonly { readonly rule: string; readonly title: string }[];
  readonly notApplicable: readonly NotApplicable[];
  /** Rules that failed, which is a fault of stallcap. */
  readonly failed: readonly { readonly rule: string; readonly error: string }[];
  readonly missing: readonly Missing[];
}

export interface ReportedCapture {
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /** Null for a bundle that was cut before its manifest. */
  readonly durationMs: number | null;
  readonly cut: boolean;
  readonly target: {
    /** `shop/web-0`, or an id. */
    readonly name: string;
    readonly kind: 'sandbox' | 'remnant' | 'node';
    readonly sandboxId: string | null;
    readonly podUid: string | null;
    readonly shimPids: readonly number[];
    readonly runtime: 'containerd' | 'docker' | null;
  };
  readonly host: {
    readonly hostname: string;
    readonly kernel: string;
    readonly architecture: string;
    readonly cpus: number;
    readonly memoryBytes: number;
    readonly timezone: string;
    readonly cgroupVersion: 1 | 2 | 'hybrid' | null;
  };
  readonly versions: Versions;
  readonly signals: readonly { readonly pid: number; readonly outcome: string; readonly dump: string }[];
  readonly stuckProbes: readonly Pick<StuckProbeFact, 'item' | 'waitedMs' | 'state' | 'wchan'>[];
}

export interface ReportedFinding {
  readonly rule: string;
  readonly title: string;
  readonly kind: JudgedFinding['kind'];
  readonly verdict: Verdict;
  readonly says: string;
  readonly ageMs: number | null;
  readonly ageFrom: string | null;
  readonly because: readonly Citation[];
  readonly next: readonly string[];
}

export interface UnexplainedThread {
  readonly tid: number;
  readonly comm: string;
  readonly state: string;
  readonly wchan: string | null;
  readonly call: string | null;
  readonly ageMs: number;
  readonly ageFrom: string;
  readonly because: readonly Citation[];
}

/**
 * Pure: the same facts and diagnosis give the same report.
 *
 * @param attached for the timeline alone; a summary has none
 */
export function reportOf(facts: Facts, diagnosis: Diagnosis, attached: readonly AttachedEvent[] = []): Report {
  const { outcome, chain, ruledOut, notApplicable, failed } = diagnosis;
  return {
    format: 1,
    capture: captureOf(facts),
    outcome,
    headline: headlineOf(diagnosis, facts),
    findings: diagnosis.findings.map(findingOf),
    chain: chain === null ? null : { ...chain, steps: [...chain.steps] },
    unexplained: diagnosis.unexplained.map(({ thread, standstill }) => ({
      ...{ tid: thread.tid, comm: thread.comm, state: thread.state, wchan: thread.wchan },
      ...{ call: thread.call?.name ?? null, ageMs: standstill.ageMs, ageFrom: standstill.ageFrom },
      because: thread.cites,
    })),
    views: viewsTables(facts.containers ?? []),
    timeline: timelineOf(facts, attached),
    ...{ ruledOut, notApplicable, failed },
    missing: missingFrom(facts.capture),
  };
}

function findingOf({
  rule,
  title,
  kind,
  verdict,
  says,
  ageMs,
  ageFrom,
  because,
  next,
}: JudgedFinding): ReportedFinding {
  return { rule, title, kind, verdict, says, ageMs, ageFrom, because, next };
}

/** Without these nobody can say that there is no stall. */
const CORE: readonly (readonly [FactName, string])[] = [
  ['threads', 'the threads of the pod'],
  ['nodeThreads', "the node's threads in D"],
  ['processes', 'the processes'],
  ['containers', 'the records of the containers'],
];

function headlineOf({ outcome, findings, unexplained }: Diagnosis, facts: Facts): string {
  const [first] = findings.filter(({ kind }) => kind === 'stall');
  if (outcome === 'stall' && first !== undefined)
    return first.verdict === 'likely' ? `Likely: ${first.says}` : first.says;
  if (outcome === 'none') {
    const ofPod = facts.target.target.kind !== 'node';
    const missing = CORE.filter(
      ([name]) => facts[name] === null && (ofPod || name.startsWith('node') || name === 'processes'),
    );
    if (missing.length === 0) return 'No stall found.';
    return `No stall found in what was captured; not captured: ${missing.map(([, words]) => words).join(', ')}.`;
  }
  if (first !== undefined) return `Not proved: ${first.says}`;
  const many = unexplained.length === 1 ? 'A thread stands' : `${unexplained.length} threads stand`;
  return `${many} still, and none of the kinds that stallcap knows is the reason.`;
}

function captureOf({ capture, target, signals, stuckProbes }: Facts): ReportedCapture {
  const { hostname, kernel, architecture, cpus, memoryBytes, timezone, cgroupVersion, versions } = capture;
  const shims = target.target.kind === 'sandbox' ? target.target.sandbox.shims : [];
  return {
    ...{ startedAt: nearestIsoTime(capture.startedAt), durationMs: capture.durationMs, cut: capture.cut },
    target: {
      ...{ name: target.name, kind: target.target.kind, sandboxId: target.sandboxId, podUid: target.podUid },
      ...{ shimPids: shims.map(({ pid }) => pid), runtime: target.runtime },
    },
    host: { hostname, kernel, architecture, cpus, memoryBytes, timezone, cgroupVersion },
    versions,
    signals: (signals ?? []).map(({ pid, outcome, dump }) => ({ pid, outcome, dump })),
    stuckProbes: (stuckProbes ?? []).map(({ item, waitedMs, state, wchan }) => ({ item, waitedMs, state, wchan })),
  };
}
