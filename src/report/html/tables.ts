import type { Report } from '../report.ts';
import { containerLabel, lastView, sourcesOf } from '../views.ts';
import { clock, timelineLines, viewWords } from '../words.ts';
import type { Anchors } from './anchors.ts';
import { html, type Markup } from './markup.ts';

/** What every source believes of every container. */
export function viewsSection({ views }: Report, anchors: Anchors): Markup | null {
  if (views.length === 0) return null;
  const sources = sourcesOf(views);
  return html`<section id="views"><h2>What each source believes</h2><div class="scroll"><table class="views"><thead><tr><th></th>${sources.map(source => html`<th scope="col">${source}</th>`)}</tr></thead>
<tbody>${views.map(
    table =>
      html`<tr class="${table.disagree ? 'disagree' : ''}"><th scope="row">${containerLabel(table)}<small>${table.id.slice(0, 12)}</small></th>${sources.map(
        source => {
          const view = lastView(table, source);
          return html`<td class="${view?.says ?? 'none'}">${view === null ? '–' : anchors.link(view.cite, viewWords(table, source))}</td>`;
        },
      )}</tr>`,
  )}</tbody></table></div>${views.some(({ disagree }) => disagree) && html`<p class="note">Sources in a marked row say opposite things of the same container.</p>`}</section>`;
}

const MAX_LINES = 300;

export function eventList(report: Report, anchors: Anchors): Markup | null {
  const lines = timelineLines(report).slice(-MAX_LINES);
  if (lines.length === 0) return null;
  return html`<details class="list"><summary>All ${lines.length} events, as a list (UTC)</summary><div class="scroll"><table class="events"><tbody>${lines.map(
    ({ at, layer, words, cite, bad }) =>
      html`<tr class="${bad ? 'bad' : ''}"><td>${at.slice(0, 10)} ${clock(at)}</td><td>${layer}</td><td>${words}${cite !== null && html` ${anchors.link(cite)}`}</td></tr>`,
  )}</tbody></table></div></details>`;
}

/** What was looked for in vain, what could not be looked for, and what the bundle lacks. */
export function limitsSection({ ruledOut, notApplicable, failed, missing }: Report): Markup {
  return html`<section id="limits"><h2>What is not in it</h2>
${missing.length === 0 ? html`<p>The bundle lacks nothing that was tried.</p>` : html`<ul class="missing">${missing.slice(0, 100).map(({ what, outcome, detail }) => html`<li><code>${what}</code>: ${outcome}${detail === null ? '' : ` (${detail.split('\n')[0]?.slice(0, 200)})`}</li>`)}</ul>`}
${failed.map(({ rule, error }) => html`<p class="note">Rule ${rule} failed, which is a fault of stallcap: ${error}</p>`)}
${ruledOut.length > 0 && html`<details><summary>${ruledOut.length} kinds are ruled out</summary><ul>${ruledOut.map(({ title }) => html`<li>${title}</li>`)}</ul></details>`}
${notApplicable.length > 0 && html`<details><summary>${notApplicable.length} kinds could not be judged</summary><ul>${notApplicable.map(({ title, missing: what }) => html`<li>${title}: without ${what.join(', ')}</li>`)}</ul></details>`}</section>`;
}
