import type { Evidence } from '../bundle/evidence.ts';
import { specEnvNamesOnly } from '../bundle/redact/env-list.ts';

/**
 * `process.env` of an OCI spec and of its hooks, `Env` of docker: names stay, values go, and all else stays as it was
 * written. Also with --no-redact: environment values are not for a bundle.
 */
export function withoutEnvValues(evidence: Evidence): Evidence {
  return { ...evidence, body: specEnvNamesOnly(evidence.body) };
}

const REMOVED = '(removed by stallcap: holds environment values)';

/**
 * `ctr containers info` without the spec (the bundle directory's config.json has it) and without the extensions, which
 * are base64 of what CRI was asked for, environment included. What cannot be parsed is withheld.
 */
export function containerRecordOnly(evidence: Evidence): Evidence {
  const text = evidence.body.toString('utf8');
  // A complaint, or nothing.
  if (evidence.outcome !== 'ok' && !text.trimStart().startsWith('{')) return evidence;
  try {
    const record = JSON.parse(text, (key, value) => (key === 'Spec' || key === 'Extensions' ? REMOVED : value));
    return { ...evidence, body: Buffer.from(`${JSON.stringify(record, null, 1)}\n`) };
  } catch {
    const outcome = evidence.outcome === 'ok' ? 'error' : evidence.outcome;
    return { ...evidence, outcome, body: Buffer.alloc(0), detail: 'not whole JSON: withheld, it may hold secrets' };
  }
}
