import type { Quote } from '../quotes.ts';
import type { Anchors } from './anchors.ts';
import { html, type Markup } from './markup.ts';

/** The lines that claims rest on, as they stand in the bundle, each with its number: where all links lead. */
export function evidenceSection(quotes: readonly Quote[], anchors: Anchors): Markup | null {
  if (quotes.length === 0) return null;
  return html`<section id="evidence"><h2>Evidence<small>the lines that all of this rests on, as they stand in the bundle</small></h2>
${quotes.map(quote => quoteMarkup(quote, anchors))}</section>`;
}

function quoteMarkup({ entry, pieces, whole }: Quote, anchors: Anchors): Markup {
  return html`<div class="quote"><h3 id="${anchors.id(entry, null)}"><code>${entry}</code></h3>
${whole.map(({ text }) => html`<p class="whole">${text}</p>`)}
${pieces.map(
  piece =>
    html`<div class="piece">${piece.map(
      ({ number, text, cited }) =>
        html`<div class="line${cited ? ' cited' : ''}"${cited && html` id="${anchors.id(entry, number)}"`}><span class="number">${number}</span><code>${text}</code></div>`,
    )}</div>`,
)}</div>`;
}
