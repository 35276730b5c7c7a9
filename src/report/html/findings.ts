import { formatDuration } from '../../formats/duration.ts';
import type { Report, ReportedFinding } from '../report.ts';
import { ageWords, placeOf } from '../words.ts';
import type { Anchors } from './anchors.ts';
import { html, type Markup } from './markup.ts';

export function chainSection({ chain }: Report): Markup | null {
  if (chain === null) return null;
  return html`<section id="chain"><h2>Who waits for whom</h2><ol class="chain">${chain.steps.map(
    ({ says, verdict, rule }) =>
      html`<li class="${verdict}"><a href="#rule-${rule}">${says}</a>${verdict === 'proved' ? '' : html` <span class="badge ${verdict}">${verdict}</span>`}</li>`,
  )}${chain.endsBefore !== null && html`<li class="open">What ${chain.endsBefore} waits for is not known.</li>`}</ol></section>`;
}

export function findingsSection({ findings }: Report, anchors: Anchors): Markup | null {
  if (findings.length === 0) return null;
  const first = new Set<ReportedFinding>(
    [...Map.groupBy(findings, ({ rule }) => rule).values()].flatMap(all => all[0] ?? []),
  );
  return html`<section id="findings"><h2>Findings</h2>${findings.map(finding => findingMarkup(finding, first.has(finding), anchors))}</section>`;
}

function findingMarkup(finding: ReportedFinding, isFirst: boolean, anchors: Anchors): Markup {
  const { rule, title, kind, verdict, says, because, next } = finding;
  const badge = kind === 'stall' ? verdict : 'besides';
  const age = ageWords(finding);
  return html`<article class="finding ${badge}"${isFirst && html` id="rule-${rule}"`}><h3><span class="badge ${badge}">${badge}</span> ${title}</h3>
<p class="says">${says}</p>${age !== null && html`<p class="note">Has lasted ${age}.</p>`}
<ul class="because">${because.map(citation => html`<li>${anchors.link(citation, placeOf(citation))} <code>${citation.text}</code></li>`)}</ul>
${next.length > 0 && html`<h4>What to do</h4><ol>${next.map(step => html`<li>${step}</li>`)}</ol>`}<p class="rule">rule ${rule}</p></article>`;
}

export function unexplainedSection({ unexplained }: Report, anchors: Anchors): Markup | null {
  if (unexplained.length === 0) return null;
  return html`<section id="unexplained"><h2>Stands still, and no known kind is the reason</h2><ul>${unexplained.map(
    ({ tid, comm, state, call, wchan, ageMs, because }) =>
      html`<li><b>${comm} ${tid}</b> in ${state} in <code>${call ?? wchan ?? 'an unknown place'}</code> for ${formatDuration(ageMs)}: ${because.map((citation, index) => html`${index === 0 ? '' : ', '}${anchors.link(citation)}`)}</li>`,
  )}</ul></section>`;
}
