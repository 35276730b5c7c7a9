import type { Tally } from './tally.ts';

/** '120 passed, 0 failed', or '118 passed, 0 failed, 2 skipped'. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}
