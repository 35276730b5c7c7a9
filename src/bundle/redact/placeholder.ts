import type { NamedKind } from './names.ts';

/** A longer value is never a placeholder: what is looked at stays bounded. */
const LONGEST = 200;

const WORDS = /^(?:true|false|null|nil|none|undefined|yes|no|unset)$/i;
const MASKED = /^(?:\*{2,}|x{3,}|\.{3}|•+|-+|<[^<>]*>?|\[redacted.*|\(redacted.*|redacted|\(removed.*)$/i;
/** A variable or a verb that somebody else fills in. */
const REFERENCE = /^(?:\$[({]?\w+[)}]?|\$\{\w+:?[-?][^}]*\}|\{\{.*|%\(?\w*\)?[svqd])$/;
/** How Go prints what is not a string: a map, a struct, a pointer. */
const GO_VALUE = /^(?:map\[|&?\{|\[|0x[0-9a-f]{6,}$)/;

/** `token=/var/run/secrets/…/token`: a path of a node. Base64 that starts like one has no lower-case directory behind it. */
const NODE_PATH = /^\/(?:var|etc|run|usr|opt|home|root|proc|sys|tmp|mnt|srv|dev|lib|data)(?:\/|$)/;
/** `secret="shop/db-credentials"`: namespace and name of an object. */
const OBJECT_NAME = /^[a-z0-9-]+\/[a-z][a-z0-9.-]*$/;
const SMALL_NUMBER = /^\d{1,5}$/;

/** Whether a value under a secret's name is not the secret: a placeholder, a reference, a path, a count. */
export function isPlaceholder(value: string, kind: NamedKind): boolean {
  if (value === '') return true;
  if (value.length > LONGEST) return false;
  if (WORDS.test(value) || MASKED.test(value) || REFERENCE.test(value) || GO_VALUE.test(value)) return true;
  if (NODE_PATH.test(value)) return true;
  return kind !== 'password' && (OBJECT_NAME.test(value) || SMALL_NUMBER.test(value));
}
