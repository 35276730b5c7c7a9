/** Events as JSON, and as the YAML that kubectl writes. */
import type { KubernetesEvent } from './events.ts';

/** What of an Event is of use, as text; the same names in core/v1 and events.k8s.io/v1 but for some. */
type Fields = ReadonlyMap<string, string>;

/** Null for a text that is neither. */
export function eventsOfDocument(text: string): readonly KubernetesEvent[] | null {
  const start = text.trimStart();
  if (/^[{[]/.test(start)) return fromJson(text);
  return /^(?:apiVersion:|items:|- apiVersion:|kind: (?:List|EventList|Event)\s*$)/m.test(text) ? fromYaml(text) : null;
}

function fromJson(text: string): readonly KubernetesEvent[] | null {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  const items = Array.isArray(document) ? document : ((document as { items?: unknown }).items ?? [document]);
  if (!Array.isArray(items)) return [];
  // A line of a document tells nothing, but a place to look at: that of its message.
  let from = 0;
  return items.flatMap((item: unknown) => {
    const fields = new Map<string, string>();
    flatten(item, '', fields, 0);
    const mark = JSON.stringify(fields.get('message') ?? fields.get('note') ?? '');
    const at = text.indexOf(mark, from);
    if (at >= 0) from = at;
    const line = at < 0 ? 1 : text.slice(0, at).split('\n').length;
    return eventOf(fields, line) ?? [];
  });
}

const MAX_DEPTH = 3;

function flatten(value: unknown, path: string, into: Map<string, string>, depth: number): void {
  if (typeof value === 'string' || typeof value === 'number') into.set(path, String(value));
  if (value === null || typeof value !== 'object' || Array.isArray(value) || depth > MAX_DEPTH) return;
  for (const [name, member] of Object.entries(value))
    flatten(member, path === '' ? name : `${path}.${name}`, into, depth + 1);
}

/**
 * As kubectl writes it: two blanks a level, scalars plain, quoted, or in a block (`|-`, `>-`) whose lines are deeper. An item begins at
 * `- `, whichever field is first.
 */
function fromYaml(text: string): readonly KubernetesEvent[] {
  const events: KubernetesEvent[] = [];
  let fields = new Map<string, string>();
  let line = 1;
  let open: { readonly path: string; readonly indent: number } | null = null;
  let parents: { readonly name: string; readonly indent: number }[] = [];
  const close = () => {
    const event = eventOf(fields, line);
    if (event !== null) events.push(event);
    fields = new Map();
    parents = [];
  };
  for (const [index, raw] of text.split('\n').entries()) {
    const item = /^(\s*)- (?=\w+:)/.exec(raw);
    const shown = item === null ? raw : `${item[1]}  ${raw.slice(item[0].length)}`;
    const indent = shown.search(/\S/);
    if (indent < 0) continue;
    if (open !== null && indent > open.indent) {
      fields.set(open.path, `${fields.get(open.path) ?? ''} ${shown.trim()}`.trim());
      continue;
    }
    open = null;
    if (item !== null && (item[1] ?? '').length <= 2) {
      close();
      line = index + 1;
    }
    const [, name, value = ''] = /^\s*([\w.-]+):(?:\s+(.*))?$/.exec(shown) ?? [];
    if (name === undefined) continue;
    // Fields of a list of items stand two deeper than those of one Event alone; parents are what is less deep.
    parents = parents.filter(parent => parent.indent < indent);
    const path = [...parents.map(parent => parent.name), name].join('.');
    if (value === '') parents.push({ name, indent });
    else {
      fields.set(path, /^[|>][+-]?$/.test(value) ? '' : unquoted(value));
      open = { path, indent };
      if (name === 'message' || name === 'note') line = index + 1;
    }
  }
  close();
  return events;
}

function unquoted(value: string): string {
  if (/^".*"$/.test(value)) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value.slice(1, -1);
    }
  }
  return /^'.*'$/s.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value;
}

/** Null for what is no Event. */
function eventOf(all: Fields, line: number): KubernetesEvent | null {
  const field = (...names: readonly string[]) => {
    for (const name of names) {
      const value = all.get(name) ?? all.get(`items.${name}`);
      if (value !== undefined && value !== 'null') return value;
    }
    return null;
  };
  const reason = field('reason');
  const type = field('type');
  if (reason === null || (type !== 'Normal' && type !== 'Warning')) return null;
  const last = time(
    field(
      'lastTimestamp',
      'series.lastObservedTime',
      'deprecatedLastTimestamp',
      'eventTime',
      'metadata.creationTimestamp',
    ),
  );
  const first = time(field('firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime'));
  const kind = field('involvedObject.kind', 'regarding.kind')?.toLowerCase() ?? null;
  const name = field('involvedObject.name', 'regarding.name');
  const count = Number(field('count', 'series.count', 'deprecatedCount') ?? 1);
  const message = field('message', 'note') ?? '';
  return {
    ...{ at: last, firstAt: first !== null && first !== last ? first : null, age: null },
    ...{ count: Number.isSafeInteger(count) && count > 0 ? count : 1, isWarning: type === 'Warning', reason, message },
    object: name === null ? null : `${kind ?? 'object'}/${name}`,
    container: /\{([^}]+)\}/.exec(field('involvedObject.fieldPath', 'regarding.fieldPath') ?? '')?.[1] ?? null,
    from: field('source.component', 'reportingComponent', 'reportingController', 'deprecatedSource.component'),
    ...{ line, text: `${type} ${reason}: ${message}` },
  };
}

function time(text: string | null): number | null {
  const ms = Date.parse(text ?? '');
  return ms > 0 ? ms : null;
}
