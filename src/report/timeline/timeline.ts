import type { Facts } from '../../diagnosis/facts.ts';
import { iso, type TimelineEvent, type TimelineSpan } from './event.ts';
import { lifeEvents, lifeSpans } from './lives.ts';
import { logMarks } from './log-marks.ts';
import { threadSpans } from './thread-spans.ts';

export interface Timeline {
  readonly events: readonly TimelineEvent[];
  readonly spans: readonly TimelineSpan[];
  /** The longest time in which nothing of this pod is on record, where that is long; null otherwise. */
  readonly gap: { readonly from: string; readonly to: string; readonly ms: number } | null;
}

/** All that the bundle dates, on one clock, oldest first. */
export function timelineOf(facts: Facts): Timeline {
  const { startedAt, durationMs } = facts.capture;
  const end = startedAt + (durationMs ?? 0);
  const capture: TimelineSpan = {
    ...{ from: iso(startedAt), to: iso(end), layer: 'capture', of: null, kind: 'capture', cite: null },
    what: 'stallcap grab',
  };
  const events = [...lifeEvents(facts), ...logMarks(facts)].toSorted((a, b) => a.at.localeCompare(b.at));
  const spans = [...lifeSpans(facts), ...threadSpans(facts), capture];
  return { events, spans, gap: gapIn(events, startedAt) };
}

const LEAST_GAP_MS = 30_000;

/** Between two moments next to each other, the capture being the last. A pod that ran for days was silent for days: that is before the trouble. */
function gapIn(events: readonly TimelineEvent[], capturedAt: number): Timeline['gap'] {
  const ends = events.flatMap(({ at, until }) => [Date.parse(at), Date.parse(until ?? at)]);
  const moments = [...ends, capturedAt].filter(at => at <= capturedAt).toSorted((a, b) => a - b);
  const ranks = recent(events, capturedAt);
  let longest: { from: number; to: number } | null = null;
  for (const [index, to] of moments.entries()) {
    const from = moments[index - 1];
    if (from === undefined || from < ranks) continue;
    if (longest === null || to - from > longest.to - longest.from) longest = { from, to };
  }
  if (longest === null || longest.to - longest.from < LEAST_GAP_MS) return null;
  return { from: iso(longest.from), to: iso(longest.to), ms: longest.to - longest.from };
}

/** From the last start or end of a container on; from the first event where there is none. */
function recent(events: readonly TimelineEvent[], capturedAt: number): number {
  const turns = events.filter(({ layer, what }) => layer === 'container' && /^(?:created|started|exited)/.test(what));
  return Date.parse(turns.at(-1)?.at ?? events[0]?.at ?? iso(capturedAt));
}
