/** An Event of Kubernetes as an object, parsed from JSON or YAML by whoever. */
import type { KubernetesEvent } from './event.ts';

/** The items of a list, of an array, or the one object that it is. */
export function itemsOf(document: unknown): readonly unknown[] {
  if (Array.isArray(document)) return document;
  const items = (document as { readonly items?: unknown } | null)?.items ?? [document];
  return Array.isArray(items) ? items : [];
}

/** The same in core/v1 and in events.k8s.io/v1, but for the names of some fields. Null for what is no Event. */
export function eventOfObject(object: unknown, line: number): KubernetesEvent | null {
  const field = fieldsOf(object);
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
  const message = field(...MESSAGE) ?? '';
  return {
    ...{ at: last, firstAt: first !== null && first !== last ? first : null, age: null },
    ...{ count: Number.isSafeInteger(count) && count > 0 ? count : 1, isWarning: type === 'Warning', reason, message },
    object: name === null ? null : `${kind ?? 'object'}/${name}`,
    container: /\{([^{}]{1,253})\}/.exec(field('involvedObject.fieldPath', 'regarding.fieldPath') ?? '')?.[1] ?? null,
    from: field('source.component', 'reportingComponent', 'reportingController', 'deprecatedSource.component'),
    ...{ line, text: `${type} ${reason}: ${message}` },
  };
}

/** Where an Event has its message: core/v1, events.k8s.io/v1. */
export const MESSAGE = ['message', 'note'] as const;

/** The first of some fields that has a value. */
function fieldsOf(object: unknown): (...names: readonly string[]) => string | null {
  const fields = new Map<string, string>();
  flatten(object, '', fields, 0);
  return (...names) => names.map(name => fields.get(name)).find(value => value !== undefined) ?? null;
}

const MAX_DEPTH = 3;

function flatten(value: unknown, path: string, into: Map<string, string>, depth: number): void {
  if (typeof value === 'string' || typeof value === 'number') into.set(path, String(value));
  if (value === null || typeof value !== 'object' || Array.isArray(value) || depth > MAX_DEPTH) return;
  for (const [name, member] of Object.entries(value))
    flatten(member, path === '' ? name : `${path}.${name}`, into, depth + 1);
}

function time(text: string | null): number | null {
  const ms = Date.parse(text ?? '');
  return ms > 0 ? ms : null;
}
