import { parseKubernetesEvents } from '../../formats/kubernetes/events.ts';
import { cite } from '../citation.ts';
import type { AttachedEvent, TargetFacts } from '../facts.ts';
import type { Entries } from './entries.ts';
import { parseListing, timesOf } from './listing.ts';

/** Beside the files: when each was written, since tables have ages for times. */
const LISTING = 'attached/files.txt';
const ATTACHED = /^attached\/(?!files\.txt$)[^/]+$/;

/** A file with what kubectl says of the pod. */
export interface AttachedText {
  /** Its last part names the entry: `attached/<name>`. */
  readonly name: string;
  readonly text: string;
  /** ms since 1970; null when nobody knows. */
  readonly writtenAt: number | null;
}

/** Events in what was attached to a grab. Null when nothing was. */
export function attachedFrom(entries: Entries, target: TargetFacts): readonly AttachedEvent[] | null {
  const listed = parseListing(LISTING, entries.text(LISTING) ?? '');
  const files = entries.matching(ATTACHED).map(path => {
    const name = path.slice(path.indexOf('/') + 1);
    return { name, text: entries.text(path) ?? '', writtenAt: timesOf(listed, name)?.mtime ?? entries.plan.startedAt };
  });
  return files.length === 0 ? null : eventsIn(files, target);
}

/** Those about the pod, and those about no object at all (describe) or about its node. */
export function eventsIn(files: readonly AttachedText[], { target }: TargetFacts): readonly AttachedEvent[] {
  const pod = target.kind === 'sandbox' ? target.sandbox.pod : target.kind === 'remnant' ? target.remnant.pod : null;
  const isMeant = (object: string | null) => {
    const [kind = '', name = ''] = object?.split('/') ?? [];
    return object === null || pod === null || !/^pods?$/i.test(kind) || name === pod.name;
  };
  return files.flatMap(({ name, text, writtenAt }) =>
    parseKubernetesEvents(text, writtenAt)
      .filter(({ object }) => isMeant(object))
      .map(({ line, text: shown, ...event }) => ({ ...event, cite: cite(`attached/${name}`, line, shown) })),
  );
}
