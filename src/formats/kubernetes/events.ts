/**
 * What the API server knows of a pod, as somebody saved it: `kubectl describe pod`, `kubectl get events`, both as text (k8s.io/kubectl
 * pkg/describe/describe.go, pkg/cmd/events), and events as JSON or YAML (core/v1 and events.k8s.io/v1 Event). Tolerant: what does not
 * look like one of these is left out, and nothing throws.
 */
import { eventsOfDocument } from './document-events.ts';
import { eventsOfText } from './text-events.ts';

export interface KubernetesEvent {
  /** When it was seen last, ms since 1970; null where neither a time nor an age with a known moment of writing is there. */
  readonly at: number | null;
  /** When it was seen first; null for one that was seen once, or where it is not said. */
  readonly firstAt: number | null;
  /** Its time is the age in a table, counted back from when that was written: right to a unit of what it shows (`14m`). */
  readonly age: string | null;
  readonly count: number;
  readonly isWarning: boolean;
  /** `FailedKillPod`; `Started` and `Finished` of a container's state. */
  readonly reason: string;
  /** At most 300 characters. */
  readonly message: string;
  /** `pod/web-0`; null where the text is about one object (describe). */
  readonly object: string | null;
  /** Container, where it is said. */
  readonly container: string | null;
  /** `kubelet`, `default-scheduler`. */
  readonly from: string | null;
  /** From 1. */
  readonly line: number;
  /** That line. */
  readonly text: string;
}

/** A pod that is retried for days has some hundred different events; what is beyond is no help to a reader. */
const MAX_EVENTS = 500;
const MAX_TEXT = 300;

/** @param writtenAt ms since 1970: what ages are counted back from; null when nobody knows */
export function parseKubernetesEvents(text: string, writtenAt: number | null): readonly KubernetesEvent[] {
  const found = eventsOfDocument(text) ?? eventsOfText(text, writtenAt);
  return found.slice(-MAX_EVENTS).map(event => ({ ...event, message: short(event.message), text: short(event.text) }));
}

function short(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= MAX_TEXT ? flat : `${flat.slice(0, MAX_TEXT - 1)}…`;
}
