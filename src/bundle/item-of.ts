import type { Outcome } from '../host/port.ts';
import { isLog } from './budget.ts';
import type { Evidence } from './evidence.ts';
import type { Item, NotGot } from './manifest.ts';
import type { Transformed } from './transform.ts';

/** Who brought an entry, and when; `evidence.at` wins over the times here. */
export interface Origin {
  readonly collector: string;
  readonly phase: string;
  readonly offsetMs: number;
  readonly durationMs: number;
}

/** When it was got. */
export function timesOf(
  evidence: Evidence,
  origin: Origin,
): { readonly offsetMs: number; readonly durationMs: number } {
  const { offsetMs, durationMs } = evidence.at ?? origin;
  return { offsetMs, durationMs };
}

/** What the manifest says of evidence that is not in the bundle. */
export function notGotOf(evidence: Evidence, origin: Origin, outcome: Outcome, detail?: string): NotGot {
  const { path, source } = evidence;
  const { collector, phase } = origin;
  const why = detail === undefined ? {} : { detail };
  return { what: source, path, collector, phase, outcome, ...why, ...timesOf(evidence, origin) };
}

/** What the manifest says of an entry. @param entry as it stands in the bundle */
export function itemOf(
  evidence: Evidence,
  origin: Origin,
  transformed: Transformed,
  entry: { readonly body: Buffer; readonly sha256: string },
): Item {
  const { path, source } = evidence;
  const { collector, phase } = origin;
  const lost = transformed.body.length - entry.body.length;
  const cut =
    lost > 0 ? `${isLog(path) ? 'oldest' : 'last'} ${lost} bytes left out: the bundle may take no more` : undefined;
  const detail = [evidence.detail, cut].filter(part => part !== undefined).join('; ');
  const { redactions, kinds, skipped } = transformed;
  return {
    ...{ path, collector, phase, source, ...timesOf(evidence, origin) },
    outcome: outcomeOf(evidence.outcome, entry.body.length, lost > 0),
    ...{ bytes: entry.body.length, sha256: entry.sha256 },
    ...(detail === '' ? {} : { detail }),
    redactions,
    ...(redactions > 0 ? { redacted: kinds } : {}),
    ...(skipped === undefined ? {} : { unredacted: skipped }),
  };
}

function outcomeOf(outcome: Outcome, bytes: number, cut: boolean): Outcome {
  if (outcome !== 'ok') return outcome;
  if (cut) return 'truncated';
  return bytes === 0 ? 'empty' : 'ok';
}
