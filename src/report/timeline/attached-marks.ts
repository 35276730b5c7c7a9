import { nearestIsoTime } from '../../formats/iso-time.ts';
import type { AttachedEvent } from './attached-events.ts';
import type { TimelineEvent } from './event.ts';

/** Events that somebody attached (`--attach`): what the kubelet and others told the API server. */
export function attachedMarks(attached: readonly AttachedEvent[]): readonly TimelineEvent[] {
  return attached.flatMap((event): readonly TimelineEvent[] => {
    const { at, firstAt, age, count, isWarning, reason, message, object, container, from, cite } = event;
    if (at === null) return [];
    const who = from === null || from === 'kubelet' ? '' : ` (${from})`;
    // A table has an age for a time, right to the unit that it shows.
    const about = age === null ? '' : `, ${age} before it was written down`;
    return [
      {
        ...{ at: nearestIsoTime(firstAt ?? at), layer: 'kubelet', of: container ?? object?.split('/')[1] ?? null },
        what: `${reason}${who}: ${message}${about}`,
        ...{ count, until: firstAt === null ? null : nearestIsoTime(at), severity: isWarning ? 'bad' : 'plain', cite },
      },
    ];
  });
}
