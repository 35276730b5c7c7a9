import type { ParsedEvents } from './event.ts';
import { eventOfObject, itemsOf, MESSAGE } from './event-object.ts';

/** `kubectl get events -o json`: a list, an array, or one Event. */
export function eventsOfJson(text: string): ParsedEvents {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    return { events: [], fault: error instanceof Error ? error.message : String(error) };
  }
  // A parsed document knows nothing of lines, and a place to look at is that of the message.
  let from = 0;
  const events = itemsOf(document).flatMap(item => {
    const object = (item ?? {}) as Readonly<Record<string, unknown>>;
    const message = MESSAGE.map(name => object[name]).find(value => typeof value === 'string') ?? '';
    const at = text.indexOf(JSON.stringify(message), from);
    if (at >= 0) from = at;
    return eventOfObject(item, at < 0 ? 1 : text.slice(0, at).split('\n').length) ?? [];
  });
  return { events, fault: null };
}
