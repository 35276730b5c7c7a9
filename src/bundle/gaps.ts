import type { Gap } from './grab-result.ts';
import { type Item, leavesGap, type NotGot } from './manifest.ts';

/** What a bundle lacks: what was not got, and what was got in part, in the order in which it was tried. */
export function gaps(content: { readonly items: readonly Item[]; readonly notGot: readonly NotGot[] }): readonly Gap[] {
  const partial = content.items.map(item => ({ ...item, what: item.path }));
  return [...partial, ...content.notGot]
    .filter(({ outcome }) => leavesGap(outcome))
    .sort((a, b) => (a.offsetMs ?? 0) - (b.offsetMs ?? 0))
    .map(({ what, collector, outcome, detail }) => ({ what, collector, outcome, detail: detail ?? null }));
}
