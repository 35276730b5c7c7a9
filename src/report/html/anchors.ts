import type { Citation } from '../../diagnosis/citation.ts';
import { placeOf } from '../words.ts';
import { html, type Markup } from './markup.ts';

/** Where quoted lines stand on the page. */
export interface Anchors {
  /** Id of a cited line's place. */
  id(entry: string, line: number | null): string;
  /** `shim/threads-4.txt:12`, linked to the quotation. */
  link(citation: Citation, words?: string): Markup;
  /** Address for a link of SVG: `#e3-L12`. */
  href(citation: Citation): string;
}

/** Entries are numbered: their names are others' words, and belong in no id. */
export function anchorsFor(entries: readonly string[]): Anchors {
  const numbers = new Map(entries.map((entry, index) => [entry, index + 1]));
  const id = (entry: string, line: number | null) => `e${numbers.get(entry) ?? 0}${line === null ? '' : `-L${line}`}`;
  const href = ({ entry, line }: Citation) => `#${id(entry, line)}`;
  return {
    id,
    href,
    link: (citation, words) => html`<a class="cite" href="${href(citation)}">${words ?? placeOf(citation)}</a>`,
  };
}
