import type { Citation } from '../../diagnosis/citation.ts';
import type { Belief, Facts, GoroutineFact, Thread } from '../../diagnosis/facts.ts';
import { sleepsIn } from '../../diagnosis/standstill.ts';
import type { Judged } from '../read-report.ts';
import type { Report } from '../report.ts';
import { containerLabel } from '../views.ts';
import { type Rates, ratesBetween } from './rates.ts';

/** What is different in a later bundle: `diff --json`, schemas/diff.schema.json. */
export interface Difference {
  readonly format: 1;
  readonly a: Side;
  readonly b: Side;
  /** From the start of A to the start of B; negative where they were given the wrong way round. */
  readonly elapsedMs: number;
  /** Same target and same boot: only then threads and counters may be compared. */
  readonly comparable: boolean;
  /** Threads that wait in B in the same place, with the same call and arguments, as in A. */
  readonly unmoved: readonly UnmovedThread[];
  /** Threads that stood in A, and stand no more. */
  readonly freed: readonly {
    readonly tid: number;
    readonly comm: string;
    readonly was: string;
    readonly now: string | null;
  }[];
  /** Threads that stand in B and did not in A. */
  readonly stuck: readonly {
    readonly tid: number;
    readonly comm: string;
    readonly where: string;
    readonly cite: Citation;
  }[];
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

export interface UnmovedThread {
  readonly tid: number;
  readonly comm: string;
  readonly where: string;
  /** In B, by the scheduler's clock; null where it does not tell. */
  readonly blockedForMs: number | null;
  readonly cite: Citation;
}

export interface GoroutineChanges {
  /** The same goroutine in the same place in both. */
  readonly aged: readonly {
    readonly shimPid: number;
    readonly id: number;
    readonly at: string;
    readonly rpc: string | null;
    readonly minutes: number | null;
    readonly cite: Citation;
  }[];
  /** More goroutines at one place than before. */
  readonly multiplied: readonly { readonly at: string; readonly before: number; readonly after: number }[];
}

export interface ChangedView {
  readonly container: string;
  readonly source: string;
  readonly before: Belief | null;
  readonly after: Belief | null;
}

/** What changed from bundle A to bundle B. Pure. */
export function difference(a: Judged, b: Judged): Difference {
  const comparable = isSame(a.facts, b.facts);
  const elapsedMs = b.facts.capture.startedAt - a.facts.capture.startedAt;
  return {
    format: 1,
    ...{ a: sideOf(a.report), b: sideOf(b.report), elapsedMs, comparable },
    ...threadsBetween(a.facts, b.facts, comparable),
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

function waits({ idle, state }: Thread): boolean {
  return state === 'D' || (!idle && state !== 'R');
}

const placeOf = (thread: Thread) => `${thread.state} in ${thread.call?.name ?? sleepsIn(thread) ?? 'an unknown place'}`;
const standsAs = (thread: Thread) =>
  [thread.comm, thread.call?.name, ...(thread.call?.args ?? []), sleepsIn(thread)].join('\0');

function threadsBetween(a: Facts, b: Facts, comparable: boolean): Pick<Difference, 'unmoved' | 'freed' | 'stuck'> {
  if (!comparable) return { unmoved: [], freed: [], stuck: [] };
  const before = new Map((a.threads?.all ?? []).map(thread => [thread.tid, thread]));
  const after = new Map((b.threads?.all ?? []).map(thread => [thread.tid, thread]));
  const unmoved: UnmovedThread[] = [];
  const stuck: Difference['stuck'][number][] = [];
  for (const thread of after.values()) {
    if (!waits(thread)) continue;
    const { tid, comm, blockedForMs, cites } = thread;
    const was = before.get(tid);
    const found = { tid, comm, where: placeOf(thread), cite: cites.at(-1) ?? cites[0] };
    if (was !== undefined && waits(was) && standsAs(was) === standsAs(thread)) unmoved.push({ ...found, blockedForMs });
    else stuck.push(found);
  }
  const stays = new Set(unmoved.map(({ tid }) => tid));
  const freed = [...before.values()]
    .filter(thread => waits(thread) && !stays.has(thread.tid))
    .map(thread => {
      const now = after.get(thread.tid);
      return { tid: thread.tid, comm: thread.comm, was: placeOf(thread), now: now === undefined ? null : placeOf(now) };
    });
  return { unmoved, freed, stuck };
}

const MAX_GOROUTINES = 50;

function goroutinesBetween(a: Facts, b: Facts): GoroutineChanges {
  const before = new Map(dumped(a).map(one => [`${one.shimPid}/${one.goroutine.id}`, one.goroutine]));
  // Wait waits for the end of a process, as long as that lives.
  const aged = dumped(b).flatMap(({ shimPid, goroutine }) => {
    const was = before.get(`${shimPid}/${goroutine.id}`);
    if (goroutine.rpc === null || goroutine.rpc === 'Wait' || was === undefined || stackOf(was) !== stackOf(goroutine))
      return [];
    const { id, rpc, minutes, cite } = goroutine;
    return [{ shimPid, id, at: topOf(goroutine), rpc, minutes, cite }];
  });
  const [counts, later] = [countsOf(a), countsOf(b)];
  const multiplied = [...later].flatMap(([stack, { at, count }]) => {
    const was = counts.get(stack)?.count ?? 0;
    return count > was && count > 1 ? [{ at, before: was, after: count }] : [];
  });
  return { aged: aged.slice(0, MAX_GOROUTINES), multiplied: multiplied.slice(0, MAX_GOROUTINES) };
}

function dumped({ goroutines }: Facts): readonly { readonly shimPid: number; readonly goroutine: GoroutineFact }[] {
  return (goroutines ?? []).flatMap(({ shimPid, all }) => all.map(goroutine => ({ shimPid, goroutine })));
}

const stackOf = ({ frames }: GoroutineFact) => frames.map(({ function: name, line }) => `${name}:${line}`).join('\n');
const topOf = ({ frames }: GoroutineFact) =>
  frames
    .slice(0, 4)
    .map(({ function: name }) => name.slice(name.lastIndexOf('/') + 1))
    .join(' ← ');

function countsOf(facts: Facts): ReadonlyMap<string, { readonly at: string; readonly count: number }> {
  const all = Map.groupBy(dumped(facts), ({ goroutine }) => stackOf(goroutine));
  return new Map(
    [...all].map(([stack, of]) => [stack, { at: of[0] === undefined ? '' : topOf(of[0].goroutine), count: of.length }]),
  );
}

function viewsBetween(a: Report, b: Report): readonly ChangedView[] {
  const wordsOf = ({ views }: Report) =>
    new Map(
      views.flatMap(table =>
        table.views.map(
          ({ source, says }) => [`${table.id}\0${source}`, { container: containerLabel(table), source, says }] as const,
        ),
      ),
    );
  const [before, after] = [wordsOf(a), wordsOf(b)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(key => {
    const [was, is] = [before.get(key), after.get(key)];
    const { container, source } = is ?? was ?? { container: '', source: '' };
    return was?.says === is?.says ? [] : [{ container, source, before: was?.says ?? null, after: is?.says ?? null }];
  });
}

function findingsBetween({ findings: a }: Report, { findings: b }: Report): Difference['findings'] {
  const [before, after] = [a, b].map(all => new Set(all.map(({ rule }) => rule))) as [Set<string>, Set<string>];
  return {
    stayed: [...after].filter(rule => before.has(rule)),
    ended: [...before].filter(rule => !after.has(rule)),
    new: [...after].filter(rule => !before.has(rule)),
  };
}
