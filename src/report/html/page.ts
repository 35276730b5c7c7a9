import type { Citation } from '../../diagnosis/citation.ts';
import type { Facts } from '../../diagnosis/facts.ts';
import { timelineChart } from '../charts/timeline-chart.ts';
import { quotesOf } from '../quotes.ts';
import type { Judged } from '../read-report.ts';
import type { Report } from '../report.ts';
import { captureWords, OUTCOME_WORDS, versionWords } from '../words.ts';
import { anchorsFor } from './anchors.ts';
import { disksSection } from './disks.ts';
import { evidenceSection } from './evidence.ts';
import { chainSection, findingsSection, unexplainedSection } from './findings.ts';
import { goroutinesSection } from './goroutines.ts';
import { html, Markup } from './markup.ts';
import { STYLE } from './style.ts';
import { eventList, limitsSection, viewsSection } from './tables.ts';
import { threadCitations, threadsSection } from './threads.ts';

/** Nothing is fetched, and no script runs, whatever stands in the bundle. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The report as one HTML file for people who would rather look than read. It needs no network and no script. */
export async function reportPage({ facts, report, again }: Judged): Promise<string> {
  const quotes = await quotesOf(citationsOf(facts, report), again());
  const anchors = anchorsFor(quotes.map(({ entry }) => entry));
  const { capture, outcome, headline } = report;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>${capture.target.name}: ${OUTCOME_WORDS[outcome]}</title><style>${new Markup(STYLE)}</style></head><body><main>
<header class="${outcome}"><p class="where">${captureWords(capture)}</p><h1><span class="badge ${outcome}">${OUTCOME_WORDS[outcome]}</span> ${outcome === 'none' ? '' : headline}</h1><p class="note">${versionWords(capture)}</p></header>
${chainSection(report)}
<section id="timeline"><h2>Timeline<small>UTC; point at a mark to read it, follow it to its line</small></h2>${timelineChart(report.timeline, anchors)}${eventList(report, anchors)}</section>
${findingsSection(report, anchors)}
${unexplainedSection(report, anchors)}
${viewsSection(report, anchors)}
${disksSection(facts, anchors)}
${threadsSection(facts, anchors)}
${goroutinesSection(facts)}
${limitsSection(report)}
${evidenceSection(quotes, anchors)}
</main></body></html>
`;
  return page.text;
}

/** Every line that the page links to. */
function citationsOf(facts: Facts, { findings, unexplained, views, timeline }: Report): readonly Citation[] {
  const { devices, dirty, pressure } = facts;
  return [
    ...findings.flatMap(({ because }) => because),
    ...unexplained.flatMap(({ because }) => because),
    ...views.flatMap(table => table.views.map(({ cite }) => cite)),
    ...[...timeline.events, ...timeline.spans].flatMap(({ cite }) => cite ?? []),
    ...threadCitations(facts),
    ...(devices?.all ?? []).flatMap(({ samples }) => samples.at(-1)?.cite ?? []),
    ...(dirty?.samples.slice(-1).map(({ cite }) => cite) ?? []),
    ...(['io', 'memory', 'cpu'] as const).flatMap(kind => pressure?.node[kind]?.cite ?? []),
  ];
}
