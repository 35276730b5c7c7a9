import type { Listing } from '../../bundle/list-entries.ts';
import { formatSize } from '../../formats/duration.ts';
import { printable } from '../../formats/escape.ts';

/** A line for each entry: outcome, size, path, and why it is not whole. */
export function listingWords({ folder, cut, entries }: Listing): string {
  const lines = entries.map(({ path, bytes, state, outcome, detail }) => {
    const how = state === 'intact' ? (outcome ?? '-') : state;
    const why = detail === null ? '' : `  (${detail.split('\n')[0]})`;
    return `${how.padEnd(10)} ${formatSize(bytes).padStart(10)}  ${path}${why}`;
  });
  const head = `${folder ?? 'no folder'}: ${entries.length} entries${cut ? ', cut before its end' : ''}`;
  return `${[head, ...lines].map(printable).join('\n')}\n`;
}
