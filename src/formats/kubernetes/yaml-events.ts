import { type Document, isMap, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import type { KubernetesEvent, ParsedEvents } from './event.ts';
import { eventOfObject, MESSAGE } from './event-object.ts';

/**
 * kubectl writes no anchors (sigs.k8s.io/yaml), so an alias is none of its: none is followed, and none can grow. Nor are tags.
 * Names are not compared with each other, which takes time by the square of their number.
 * `silent`: a document with a fault is read as far as it is one, and says nothing on stderr by itself.
 */
const OPTIONS = { logLevel: 'silent', prettyErrors: false, resolveKnownTags: false, uniqueKeys: false } as const;
const NO_ALIASES = { maxAliasCount: 0 } as const;

/** `kubectl get events -o yaml`: a list, one Event, or several documents. */
export function eventsOfYaml(text: string): ParsedEvents {
  const events: KubernetesEvent[] = [];
  let fault: string | null = null;
  let line = 1;
  for (const part of partsOf(text)) {
    const parsed = eventsOfPart(part, line);
    events.push(...parsed.events);
    fault ??= parsed.fault;
    line += part.split('\n').length - 1;
  }
  return { events, fault };
}

/**
 * The items of a list, which kubectl does not indent, are read one by one: 4 MiB at once took 300 MB. A line at the margin ends an item,
 * since whatever belongs to one is deeper; what stands around the items tells nothing. Anything else is one part.
 */
function partsOf(text: string): readonly string[] {
  return /^- /m.test(text) ? text.split(/^(?=\S)/m) : [text];
}

/** @param before line of the text that the part begins at */
function eventsOfPart(part: string, before: number): ParsedEvents {
  const lines = new LineCounter();
  const lineOf = (offset: number) => before + lines.linePos(offset).line - 1;
  const events: KubernetesEvent[] = [];
  let fault: string | null = null;
  for (const document of parseAllDocuments(part, { ...OPTIONS, lineCounter: lines })) {
    const [error] = document.errors ?? [];
    if (error !== undefined) fault ??= `line ${lineOf(error.pos[0])}: ${error.message}`;
    try {
      for (const item of itemNodes(document)) {
        const event = eventOfObject(item.toJS(document, NO_ALIASES), lineOf(messageOffset(item)));
        if (event !== null) events.push(event);
      }
    } catch (refused) {
      // An alias, or deeper than the stack.
      fault ??= `line ${before}: ${refused instanceof Error ? refused.message : String(refused)}`;
    }
  }
  return { events, fault };
}

function itemNodes({ contents }: Document): readonly Node[] {
  const items = isMap(contents) ? (contents.get('items', true) ?? contents) : contents;
  return isSeq<Node>(items) ? items.items : items === null ? [] : [items as Node];
}

/** A place to look at is that of the message. */
function messageOffset(item: Node): number {
  const message = isMap(item) ? MESSAGE.map(name => item.get(name, true)).find(node => node !== undefined) : undefined;
  return (message?.range ?? item.range ?? [0])[0];
}
