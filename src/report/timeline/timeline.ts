import type { Facts } from '../../diagnosis/facts.ts';
import { nearestIsoTime } from '../../formats/iso-time.ts';
import type { AttachedEvent } from './attached-events.ts';
import { attachedMarks } from './attached-marks.ts';
import type { TimelineEvent, TimelineSpan } from './event.ts';
import { lifeEvents, lifeSpans } from './lives.ts';
import { logMarks } from './log-marks.ts';
import { threadSpans } from './thread-spans.ts';

export interface Timeline {
  readonly events: readonly TimelineEvent[];
  readonly spans: readonly TimelineSpan[];
  /** The longest time in which a container was created and not started, or had ended and CRI did not know; null for none of 10 s. */
  readonly gap: { readonly from: string; readonly to: string; readonly ms: number; readonly what: string } | null;
}

/** All that the bundle dates and what was read of attached files, on one clock, oldest first. */
export function timelineOf(facts: Facts, attached: readonly AttachedEvent[] = []): Timeline {
  const { startedAt, durationMs } = facts.capture;
  const end = startedAt + (durationMs ?? 0);
  const capture: TimelineSpan = {
    ...{
      from: nearestIsoTime(startedAt),
      to: nearestIsoTime(end),
      layer: 'capture',
      of: null,
      kind: 'capture',
      cite: null,
    },
    what: 'stallcap grab',
  };
  const events = [...lifeEvents(facts), ...logMarks(facts), ...attachedMarks(attached)].toSorted((a, b) =>
    a.at.localeCompare(b.at),
  );
  const spans = [...lifeSpans(facts), ...threadSpans(facts), capture];
  return { events, spans, gap: gapIn(spans) };
}

/** Less is the usual work of a runtime. */
const LEAST_GAP_MS = 10_000;

function gapIn(spans: readonly TimelineSpan[]): Timeline['gap'] {
  const waits = spans
    .filter(({ kind }) => kind === 'waiting')
    .map(({ from, to, of, what }) => ({ from, to, ms: Date.parse(to) - Date.parse(from), what: `${of}: ${what}` }));
  const longest = waits.toSorted((a, b) => b.ms - a.ms)[0] ?? null;
  return longest !== null && longest.ms >= LEAST_GAP_MS ? longest : null;
}
