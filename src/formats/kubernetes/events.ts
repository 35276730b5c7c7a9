/**
 * What the API server knows of a pod, as somebody saved it: `kubectl describe pod`, `kubectl get events`, both as text (k8s.io/kubectl
 * pkg/describe/describe.go, pkg/cmd/events), and events as JSON or YAML (core/v1 and events.k8s.io/v1 Event). Tolerant: what does not
 * look like one of these is left out, and nothing throws.
 */
import { eventsOfJson } from './json-events.ts';
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

export interface ParsedEvents {
  readonly events: readonly KubernetesEvent[];
  /** What keeps a document from being read whole: `line 7: Missing closing "quote`; null for one without a fault, and for tables. */
  readonly fault: string | null;
}

const MAX_TEXT = 300;

/** @param writtenAt ms since 1970: what ages are counted back from; null when nobody knows */
export async function parseKubernetesEvents(text: string, writtenAt: number | null): Promise<ParsedEvents> {
  const { events, fault } = await parse(text, writtenAt);
  return { events: events.map(event => ({ ...event, message: short(event.message), text: short(event.text) })), fault };
}

async function parse(text: string, writtenAt: number | null): Promise<ParsedEvents> {
  if (/^\s*[{[]/.test(text)) return eventsOfJson(text);
  if (!/^(?:apiVersion:|items:|- apiVersion:|kind: (?:List|EventList|Event)\s*$)/m.test(text)) {
    return { events: eventsOfText(text, writtenAt), fault: null };
  }
  // The library is 160 kB, and nothing else is written in YAML: who attaches none does not load it.
  const { eventsOfYaml } = await import('./yaml-events.ts');
  return eventsOfYaml(text);
}

function short(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= MAX_TEXT ? flat : `${flat.slice(0, MAX_TEXT - 1)}…`;
}
