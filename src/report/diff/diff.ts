import type { Facts } from '../../diagnosis/facts.ts';
import type { Judged } from '../read-report.ts';
import type { Report } from '../report.ts';
import { type GoroutineChanges, goroutinesBetween } from './goroutines.ts';
import { type Rates, ratesBetween } from './rates.ts';
import { type ThreadChanges, threadsBetween } from './threads.ts';
import { type ChangedView, viewsBetween } from './views.ts';

/** What is different in a later bundle: `diff --json`, schemas/diff.schema.json. */
export interface Difference extends ThreadChanges {
  readonly format: 1;
  readonly a: Side;
  readonly b: Side;
  /** From the start of A to the start of B; negative where they were given the wrong way round. */
  readonly elapsedMs: number;
  /** Same target and same boot: only then threads and counters may be compared. */
  readonly comparable: boolean;
  readonly goroutines: GoroutineChanges;
  readonly views: readonly ChangedView[];
  readonly findings: {
    readonly stayed: readonly string[];
    readonly ended: readonly string[];
    readonly new: readonly string[];
  };
  readonly rates: Rates;
}

export interface Side {
  readonly target: string;
  readonly startedAt: string;
  readonly outcome: Report['outcome'];
  readonly headline: string;
}

/** What changed from bundle A to bundle B. Pure. */
export function difference(a: Judged, b: Judged): Difference {
  const comparable = isSame(a.facts, b.facts);
  const elapsedMs = b.facts.capture.startedAt - a.facts.capture.startedAt;
  return {
    format: 1,
    ...{ a: sideOf(a.report), b: sideOf(b.report), elapsedMs, comparable },
    ...(comparable ? threadsBetween(a.facts, b.facts) : { unmoved: [], freed: [], stuck: [] }),
    goroutines: comparable ? goroutinesBetween(a.facts, b.facts) : { aged: [], multiplied: [] },
    views: comparable ? viewsBetween(a.report, b.report) : [],
    findings: findingsBetween(a.report, b.report),
    rates:
      comparable && elapsedMs > 0
        ? ratesBetween(a.facts, b.facts)
        : { devices: [], dirtyBytes: null, stateTimeouts: null },
  };
}

function sideOf({ capture, outcome, headline }: Report): Side {
  return { target: capture.target.name, startedAt: capture.startedAt, outcome, headline };
}

/** Boots are told apart by when they began, to ten seconds: the id of the boot is no fact. */
function isSame({ capture: one, target: a }: Facts, { capture: other, target: b }: Facts): boolean {
  const bootOf = ({ startedAt, uptimeSeconds }: Facts['capture']) =>
    uptimeSeconds === null ? null : startedAt - uptimeSeconds * 1000;
  const [first, second] = [bootOf(one), bootOf(other)];
  const sameBoot = first === null || second === null || Math.abs(first - second) < 10_000;
  return sameBoot && one.hostname === other.hostname && a.sandboxId === b.sandboxId;
}

function findingsBetween({ findings: a }: Report, { findings: b }: Report): Difference['findings'] {
  const [before, after] = [a, b].map(all => new Set(all.map(({ rule }) => rule))) as [Set<string>, Set<string>];
  return {
    stayed: [...after].filter(rule => before.has(rule)),
    ended: [...before].filter(rule => !after.has(rule)),
    new: [...after].filter(rule => !before.has(rule)),
  };
}
