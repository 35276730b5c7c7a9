import { leavesGap } from '../bundle/manifest.ts';
import type { CaptureFacts } from '../diagnosis/facts.ts';

/** Evidence that was wanted and is not in the bundle, or not whole. */
export interface Missing {
  /** An entry, a source, or words. */
  readonly what: string;
  readonly outcome: string;
  readonly detail: string | null;
}

/** What the bundle lacks; of a cut one the manifest, which would have said so, is the first of it. */
export function missingFrom({ flawed, notGot, cut }: CaptureFacts): readonly Missing[] {
  const end = cut ? [{ what: 'the end of the bundle', outcome: 'truncated', detail: 'the file was cut' }] : [];
  const partial = [...flawed].map(([what, { outcome, detail }]) => ({ what, outcome, detail }));
  const absent = notGot.map(({ what, path, outcome, detail }) => ({
    ...{ what: path ?? what, outcome: outcome as string, detail: detail ?? null },
  }));
  return [
    ...end,
    ...[...partial, ...absent].filter(({ outcome }) => leavesGap(outcome as Parameters<typeof leavesGap>[0])),
  ];
}
