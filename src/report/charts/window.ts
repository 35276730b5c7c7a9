import type { Timeline } from '../timeline/timeline.ts';

/** What of a timeline is drawn, ms since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
  /** Events that are older than what is drawn. */
  readonly earlier: number;
}

/** How much of the picture is before the trouble. */
const BEFORE = 0.15;
const LEAST_MS = 2000;

/**
 * From a little before the trouble to the end of the capture. A container that ran for six days would press the fifteen minutes
 * that matter into a hair.
 */
export function windowOf({ events, spans, gap }: Timeline): Window {
  const end = Math.max(...spans.filter(({ kind }) => kind === 'capture').map(({ to }) => Date.parse(to)));
  const moments = events.map(({ at }) => Date.parse(at)).filter(at => at <= end);
  const first = Math.min(end, ...moments, ...spans.map(({ from }) => Date.parse(from)));
  // Every container was created a moment before it started: that is no trouble.
  const turns = spans.filter(({ kind }) => kind === 'stuck' || kind === 'ended');
  const trouble = Math.min(
    ...turns.map(({ from }) => Date.parse(from)),
    ...(gap === null ? [] : [Date.parse(gap.from)]),
    ...(turns.length === 0 && gap === null ? [first] : []),
  );
  const length = Math.max((end - trouble) / (1 - BEFORE), LEAST_MS);
  const from = Math.max(end - length, Math.min(first - length * 0.02, end - LEAST_MS));
  return { from, to: end + (end - from) * 0.01, earlier: moments.filter(at => at < from).length };
}
