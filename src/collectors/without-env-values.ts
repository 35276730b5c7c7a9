import type { Evidence } from '../bundle/evidence.ts';

/**
 * JSON of the runtimes without what pods keep secret in it. What cannot be parsed is withheld, never passed on as it is:
 * a file that was cut in the middle of an environment must not get into a bundle.
 */

const REMOVED = '(removed by stallcap: may hold environment values)';
/** kubectl apply keeps the pod's whole manifest, environment included, in this annotation, and CRI hands it on. */
const MANIFEST = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * `process.env` of an OCI spec and of its hooks, `Config.Env` of docker, `envs` of CRI: names stay, values go. Everything
 * else stays, to the last digit of a 64-bit number.
 */
export function withoutEnvValues(evidence: Evidence): Evidence {
  return rewritten(evidence, (key, value) => {
    if (/^envs?$/i.test(key)) return namesOnly(value);
    if (key === MANIFEST) return REMOVED;
    return typeof value === 'string' && value.startsWith(`${MANIFEST}=`) ? `${MANIFEST}=${REMOVED}` : value;
  });
}

/**
 * `ctr containers info`: without the spec (the bundle directory's config.json has it) and without the extensions, base64
 * of what CRI was asked for, environment included.
 */
export function containerRecordOnly(evidence: Evidence): Evidence {
  return withoutEnvValues(rewritten(evidence, (key, value) => (/^(Spec|Extensions)$/.test(key) ? REMOVED : value)));
}

type Change = (key: string, value: unknown) => unknown;

function rewritten(evidence: Evidence, change: Change): Evidence {
  if (evidence.body.length === 0) return evidence;
  try {
    const value = parse(evidence.body.toString('utf8'), (key, inner, context) => change(key, exact(inner, context)));
    return { ...evidence, body: Buffer.from(`${JSON.stringify(value, null, 1)}\n`) };
  } catch {
    const why = evidence.outcome === 'ok' ? 'not JSON' : (evidence.detail ?? evidence.outcome);
    const detail = `${why}; withheld, since environment values could not be told apart`;
    return {
      ...evidence,
      outcome: evidence.outcome === 'ok' ? 'error' : evidence.outcome,
      body: Buffer.alloc(0),
      detail,
    };
  }
}

/** A memory limit of "none" is 9223372036854771712, which a double does not hold. */
function exact(value: unknown, context: Source | undefined): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return rawJson(context.source);
}

/** JSON.parse source text access: in Node since 21, not yet in TypeScript's library. */
const { parse, rawJSON: rawJson } = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context?: Source) => unknown): unknown;
  rawJSON(source: string): unknown;
};

interface Source {
  readonly source?: string;
}

/** CRI writes `[{"key": …, "value": …}]`. */
function namesOnly(env: unknown): unknown {
  // A label may be called env, too.
  if (!Array.isArray(env)) return env;
  return env.map(item => {
    if (typeof item === 'string') return item.split('=', 1)[0];
    const { key, Key, name, Name } = (item ?? {}) as Record<string, unknown>;
    return key ?? Key ?? name ?? Name ?? REMOVED;
  });
}
