import { type JsonObject, objectsAt, parseObject } from '../formats/runtime/json.ts';

/** The object of a JSON document, or the first one of an array; null where there is none. */
export function firstObjectIn(body: Buffer): JsonObject | null {
  const text = body.toString('utf8');
  return parseObject(text) ?? objectsAt(parseObject(`{"all":${text}}`) ?? {}, 'all')[0] ?? null;
}
