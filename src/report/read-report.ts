import { diagnose } from '../diagnosis/diagnose.ts';
import { type AttachedText, eventsIn } from '../diagnosis/facts/attached.ts';
import type { Facts } from '../diagnosis/facts.ts';
import { readFacts } from '../diagnosis/read-facts.ts';
import { type Report, reportOf } from './report.ts';

/** A bundle, read and judged. */
export interface Judged {
  readonly facts: Facts;
  readonly report: Report;
  /** The bundle's bytes once more, for quoting from it. */
  readonly again: () => AsyncIterable<Uint8Array>;
}

/**
 * Reads a bundle from its first byte to its last, and judges it; one that was cut by what came before the cut.
 *
 * @param open gives its bytes; called again by `again`
 * @param attached more files about the pod, besides those in the bundle
 * @throws BundleError
 */
export async function readReport(
  open: () => AsyncIterable<Uint8Array>,
  attached: readonly AttachedText[] = [],
): Promise<Judged> {
  const read = await readFacts(open());
  const more = eventsIn(attached, read.target);
  const facts = attached.length === 0 ? read : { ...read, attached: [...(read.attached ?? []), ...more] };
  return { facts, report: reportOf(facts, diagnose(facts)), again: open };
}
