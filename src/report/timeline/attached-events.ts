import { cite } from '../../diagnosis/citation.ts';
import type { AttachedText, TargetFacts } from '../../diagnosis/facts.ts';
import type { Citation } from '../../diagnosis/rule.ts';
import type { KubernetesEvent } from '../../formats/kubernetes/event.ts';
import { parseKubernetesEvents } from '../../formats/kubernetes/events.ts';

/** An event of the API server about the target, out of a file that somebody attached. */
export interface AttachedEvent extends Omit<KubernetesEvent, 'line' | 'text'> {
  readonly cite: Citation;
}

/** What came of one file. */
export interface AttachedFile {
  readonly name: string;
  readonly events: readonly AttachedEvent[];
  /** Why it may have more events than were read; null for a file that was understood from its beginning to its end. */
  readonly fault: string | null;
}

/** A pod that is retried for days has some hundred different events; what is beyond is no help to a reader. */
const MAX_EVENTS = 500;

/** Of each file the last events about the pod, and those about no object at all (describe) or about its node. */
export async function readAttached(
  files: readonly AttachedText[],
  { target }: TargetFacts,
): Promise<readonly AttachedFile[]> {
  const pod = target.kind === 'sandbox' ? target.sandbox.pod : target.kind === 'remnant' ? target.remnant.pod : null;
  const isMeant = (object: string | null) => {
    const [kind = '', name = ''] = object?.split('/') ?? [];
    return object === null || pod === null || !/^pods?$/i.test(kind) || name === pod.name;
  };
  return Promise.all(
    files.map(async ({ name, text, writtenAt }) => {
      const { events, fault } = await parseKubernetesEvents(text, writtenAt);
      const meant = events.filter(({ object }) => isMeant(object)).slice(-MAX_EVENTS);
      const cited = meant.map(({ line, text: shown, ...event }) => ({
        ...event,
        cite: cite(`attached/${name}`, line, shown),
      }));
      return { name, events: cited, fault };
    }),
  );
}
