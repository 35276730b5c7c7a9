import type { ParsedEvents } from './event.ts';
import { eventOfObject, itemsOf, MESSAGE } from './event-object.ts';

/** A message that another program escaped otherwise is not found, and each search goes to the end of the text. */
const MOST_MISSED = 100;

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
  let line = 1;
  let missed = 0;
  const events = itemsOf(document).flatMap(item => {
    const object = (item ?? {}) as Readonly<Record<string, unknown>>;
    const message = MESSAGE.map(name => object[name]).find(value => typeof value === 'string') ?? '';
    const at = missed > MOST_MISSED ? -1 : text.indexOf(JSON.stringify(message), from);
    if (at < 0) {
      missed++;
      return eventOfObject(item, 1) ?? [];
    }
    line += linesIn(text, from, at);
    from = at;
    return eventOfObject(item, line) ?? [];
  });
  return { events, fault: null };
}

function linesIn(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
