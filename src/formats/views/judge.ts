import type { ContainerViews, View } from './view.ts';

/** A view that cannot be true, and the one that it cannot be true beside. */
export interface Contradiction {
  readonly view: View;
  /** A reading of /proc; where there is none, a source that says the opposite. */
  readonly against: View;
}

export interface Judgement {
  readonly contradictions: readonly Contradiction[];
  /** A source disagrees, and may only be late: whoever can should read again when the grace is over. */
  readonly open: boolean;
}

/** A runtime may take that long to notice, and to write down what happened. */
export const GRACE_MS = 1000;

/**
 * Which sources are wrong about a container. Everything else is compared to /proc, which is read more than once:
 * - that a process is gone is for good, so who says "running" a grace or more later is wrong;
 * - who says "exited" is wrong while the process was there a grace before and is there afterwards.
 * Of each other source its last word counts: what it has put right is no contradiction. "Created" says nothing of a process,
 * for runc may have made one or not. Views of different processes (docker has started the container again) are not compared.
 */
export function judgeViews({ views }: Pick<ContainerViews, 'views'>, graceMs = GRACE_MS): Judgement {
  const inits = views
    .filter(({ source, says }) => source === '/proc' && says !== 'unknown')
    .toSorted((a, b) => msFrom(b, a));
  const others = lastOfEach(views.filter(({ source }) => source !== '/proc'));
  const judged =
    inits.length > 0 ? others.map(view => againstProc(view, inits, graceMs)) : amongOthers(others, graceMs);
  return {
    contradictions: judged.filter(one => one !== null && one !== 'open'),
    open: judged.includes('open'),
  };
}

type Judged = Contradiction | 'open' | null;

function againstProc(view: View, inits: readonly View[], graceMs: number): Judged {
  const same = inits.filter(({ pid }) => pid === null || view.pid === null || pid === view.pid);
  if (isRunning(view)) {
    const gone = same.find(({ says }) => says === 'exited');
    if (gone === undefined) return null;
    return msFrom(gone, view) >= graceMs && !isYoung(view) ? { view, against: gone } : 'open';
  }
  if (view.says !== 'exited') return null;
  const alive = same.filter(isRunning);
  const before = alive.some(init => msFrom(init, view) >= graceMs);
  const after = alive.find(init => msFrom(view, init) >= 0);
  if (before && after !== undefined && !isYoung(view)) return { view, against: after };
  // The last look decides whether there is anything to look at again.
  return same.at(-1)?.says === 'running' ? 'open' : null;
}

/** Without an init that is known: who says "running" a grace after somebody else saw the end. */
function amongOthers(others: readonly View[], graceMs: number): readonly Judged[] {
  const sinceOf = ({ since, at }: View) => Date.parse(since ?? at);
  const [ended] = others.filter(({ says }) => says === 'exited').toSorted((a, b) => sinceOf(a) - sinceOf(b));
  if (ended === undefined) return [];
  return others
    .filter(view => isRunning(view) && (view.pid === null || ended.pid === null || view.pid === ended.pid))
    .map(view => {
      return Date.parse(view.at) - sinceOf(ended) >= graceMs && !isYoung(view) ? { view, against: ended } : 'open';
    });
}

function isRunning({ says }: View): boolean {
  return says === 'running' || says === 'paused';
}

function msFrom(earlier: View, later: View): number {
  return Date.parse(later.at) - Date.parse(earlier.at);
}

/** A file that was written just before it was read: its writer may be about to write it again. */
function isYoung({ at, since }: View): boolean {
  return since !== null && Math.abs(Date.parse(at) - Date.parse(since)) < GRACE_MS;
}

function lastOfEach(views: readonly View[]): readonly View[] {
  return [...new Map(views.map(view => [view.source, view])).values()];
}
