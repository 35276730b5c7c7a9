import type { Facts } from '../../diagnosis/facts.ts';
import { standingThreads } from '../../diagnosis/standing-threads.ts';
import { sleepsIn } from '../../diagnosis/standstill.ts';
import { nearestIsoTime } from '../../formats/iso-time.ts';
import type { TimelineSpan } from './event.ts';

const MAX_THREADS = 8;

/** Threads of the pod that stand still: from the moment when they ran last, by the scheduler's clock, else from the first look. */
export function threadSpans(facts: Facts): readonly TimelineSpan[] {
  return standingThreads(facts)
    .slice(0, MAX_THREADS)
    .map(({ thread, standstill }) => {
      // The first look is what a grab begins with, so the last one is as long after its start as the two are apart.
      const seenAt = facts.capture.startedAt + thread.seenForMs;
      const times = { from: nearestIsoTime(seenAt - standstill.ageMs), to: nearestIsoTime(seenAt) };
      return {
        ...{ ...times, layer: 'thread', of: `${thread.comm} ${thread.tid}`, kind: 'stuck' },
        what: `${thread.state} in ${thread.call?.name ?? sleepsIn(thread) ?? 'an unknown place'}`,
        cite: thread.cites.at(-1) ?? thread.cites[0],
      };
    });
}
