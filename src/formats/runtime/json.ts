/** JSON that others wrote, read without trusting its shape: what is not as expected is null or empty, never a throw. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Null when the text is no JSON object. */
export function parseObject(text: string): JsonObject | null {
  return parse(text, undefined);
}

/**
 * The same, and whole numbers that a double cannot hold (times in ns) come as their digits, in a string; `digitsAt` reads
 * both. Ten times as slow: for small documents.
 */
export function parseObjectWithDigits(text: string): JsonObject | null {
  return parse(text, keepDigits);
}

function parse(text: string, reviver: typeof keepDigits | undefined): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text, reviver);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? source : value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own properties alone: `constructor` in a hostile document is a key like any other. */
function valueAt(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** `{}` where there is no object. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = valueAt(object, key);
  return isObject(value) ? value : {};
}

/** Null also for the empty string: none of the fields read here means anything empty. */
export function stringAt(object: JsonObject, key: string): string | null {
  const value = valueAt(object, key);
  return typeof value === 'string' && value !== '' ? value : null;
}

export function booleanAt(object: JsonObject, key: string): boolean | null {
  const value = valueAt(object, key);
  return typeof value === 'boolean' ? value : null;
}

/** Any number. */
export function numberAt(object: JsonObject, key: string): number | null {
  const value = valueAt(object, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** ISO 8601, as ms since 1970. */
export function timeAt(object: JsonObject, key: string): number | null {
  const ms = Date.parse(stringAt(object, key) ?? '');
  return Number.isNaN(ms) ? null : ms;
}

/** A whole number that is not negative, as decimal digits. */
export function digitsAt(object: JsonObject, key: string): string | null {
  const value = valueAt(object, key);
  const digits = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^\d+$/.test(digits) ? digits : null;
}

/** A process id: null for 0, which runc and docker write for "none". */
export function pidAt(object: JsonObject, key: string): number | null {
  const pid = Number(digitsAt(object, key) ?? 0);
  return pid > 0 && pid <= 0x7fff_ffff ? pid : null;
}

/** The members that are objects. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = valueAt(object, key);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The members that are strings. */
export function stringsAt(object: JsonObject, key: string): readonly string[] {
  const value = valueAt(object, key);
  return Array.isArray(value) ? value.filter(member => typeof member === 'string') : [];
}

/** Annotations, labels: a Map, since their keys are chosen by others. */
export function textsAt(object: JsonObject, key: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(objectAt(object, key))) {
    if (typeof value === 'string') texts.set(name, value);
  }
  return texts;
}
