/**
 * What the API server knows of a pod, as somebody saved it: `kubectl describe pod`, `kubectl get events`, both as text (k8s.io/kubectl
 * pkg/describe/describe.go, pkg/cmd/events), and events as JSON or YAML (core/v1 and events.k8s.io/v1 Event). Tolerant: what does not
 * look like one of these is left out, and nothing throws.
 */
import type { ParsedEvents } from './event.ts';
import { eventsOfJson } from './json-events.ts';
import { eventsOfText } from './text-events.ts';

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
