import { diagnose } from '../diagnosis/diagnose.ts';
import type { AttachedText, Facts } from '../diagnosis/facts.ts';
import { readFacts } from '../diagnosis/read-facts.ts';
import { type Report, reportOf } from './report.ts';
import { type AttachedFile, readAttached } from './timeline/attached-events.ts';

/** A bundle, read and judged. */
export interface Judged {
  readonly facts: Facts;
  readonly report: Report;
  /** What came of the files that were attached. */
  readonly attached: readonly AttachedFile[];
  /** The bundle's bytes once more, for quoting from it. */
  readonly again: () => AsyncIterable<Uint8Array>;
}

/**
 * Reads a bundle from its first byte to its last, and judges it; one that was cut by what came before the cut.
 *
 * @param open gives its bytes; called again by `again`
 * @param more files about the pod, besides those in the bundle
 * @throws BundleError
 */
export async function readReport(
  open: () => AsyncIterable<Uint8Array>,
  more: readonly AttachedText[] = [],
): Promise<Judged> {
  const facts = await readFacts(open());
  const attached = await readAttached([...(facts.attached ?? []), ...more], facts.target);
  const events = attached.flatMap(file => file.events);
  return { facts, report: reportOf(facts, diagnose(facts), events), attached, again: open };
}
