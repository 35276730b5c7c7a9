import { formatDuration } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import type { Report, ReportedFinding } from './report.ts';
import { containerLabel, sourcesOf } from './views.ts';
import {
  ageWords,
  captureWords,
  clock,
  OUTCOME_WORDS,
  placeOf,
  timelineLines,
  versionWords,
  viewWords,
} from './words.ts';

/** The report as Markdown, for a postmortem or an issue; SUMMARY.md of a bundle is the same. Ends with a newline. */
export function reportMarkdown(report: Report): string {
  const { capture, outcome, headline } = report;
  const sections = [
    `# ${text(captureWords(capture))}`,
    text(versionWords(capture)),
    outcome === 'none' ? `**${text(headline)}**` : `**${OUTCOME_WORDS[outcome]}:** ${text(headline)}`,
    ...(report.findings.length === 0 ? [] : ['## Findings', ...report.findings.map(findingSection)]),
    ...chainSection(report),
    ...unexplainedSection(report),
    ...viewsSection(report),
    ...timelineSection(report),
    ...notKnownSection(report),
    ...missingSection(report),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Words of unknown origin between words of ours: nothing in them is markup, a link, a mention or HTML. */
export function text(words: string): string {
  return (
    printable(words)
      .replace(/[\\`*_~<>[\]|#&]/g, '\\$&')
      // `@name` would call somebody, and a bare address would become a link.
      .replace(/@(?=\w)/g, '@\u2060')
      .replace(/(https?):\/\//g, '$1:\\//')
  );
}

/** The same as code: as it stands, between as many backticks as it takes. */
export function code(words: string): string {
  const safe = printable(words);
  const longest = Math.max(0, ...(safe.match(/`+/g) ?? []).map(run => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = longest > 0 ? ' ' : '';
  return safe === '' ? '` `' : `${fence}${pad}${safe}${pad}${fence}`;
}

/** A cell of a table: there even code may hold no bare pipe. */
const codeCell = (words: string) => code(words).replaceAll('|', '\\|');

function findingSection(finding: ReportedFinding): string {
  const { title, verdict, kind, rule, says, because, next } = finding;
  const age = ageWords(finding);
  return [
    `### ${text(title)}: ${kind === 'stall' ? verdict : 'besides'}`,
    `${text(says)}${age === null ? '' : `\n\n${capital(text(age))}.`} (rule ${code(rule)})`,
    because.map(citation => `- ${code(placeOf(citation))}: ${code(citation.text)}`).join('\n'),
    ...(next.length === 0 ? [] : [`Next:\n\n${next.map(step => `1. ${text(step)}`).join('\n')}`]),
  ].join('\n\n');
}

function capital(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function chainSection({ chain }: Report): readonly string[] {
  if (chain === null) return [];
  const steps = chain.steps.map(({ says, verdict }) => `1. ${text(says)}${verdict === 'likely' ? ' (likely)' : ''}`);
  const end = chain.endsBefore === null ? [] : [`\nWhat ${text(chain.endsBefore)} waits for is not known.`];
  return ['## Who waits for whom', [...steps, ...end].join('\n')];
}

function unexplainedSection({ unexplained }: Report): readonly string[] {
  if (unexplained.length === 0) return [];
  const threads = unexplained.map(({ tid, comm, state, call, wchan, ageMs, because }) => {
    const where = call ?? wchan ?? 'an unknown place';
    const places = because.map(citation => code(placeOf(citation))).join(', ');
    return `- ${text(comm)} ${tid} in ${text(state)} in ${text(where)} for ${formatDuration(ageMs)} (${places})`;
  });
  return ['## Stands still, and no known kind is the reason', threads.join('\n')];
}

function viewsSection({ views }: Report): readonly string[] {
  if (views.length === 0) return [];
  const sources = sourcesOf(views);
  const rows = views.map(table => [
    `${text(containerLabel(table))} ${code(table.id.slice(0, 12))}${table.disagree ? ' (they disagree)' : ''}`,
    ...sources.map(source => text(viewWords(table, source))),
  ]);
  return ['## What each source believes', tableOf(['', ...sources.map(text)], rows)];
}

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

const MAX_TIMELINE = 100;

function timelineSection(report: Report): readonly string[] {
  const lines = timelineLines(report);
  if (lines.length < 2) return [];
  const rows = lines
    .slice(-MAX_TIMELINE)
    .map(({ at, layer, words, cite }) => [
      at.replace('T', ' ').replace('Z', ''),
      layer,
      `${text(words)}${cite === null ? '' : ` (${codeCell(placeOf(cite))})`}`,
    ]);
  const { gap } = report.timeline;
  const silence =
    gap === null ? [] : [`${text(gap.what)}, from ${clock(gap.from)} to ${clock(gap.to)}: ${formatDuration(gap.ms)}.`];
  return ['## Timeline (UTC)', tableOf(['time', 'layer', 'what'], rows), ...silence];
}

function notKnownSection({ outcome, ruledOut, notApplicable, failed }: Report): readonly string[] {
  const judged =
    outcome !== 'stall' && ruledOut.length > 0
      ? [`Ruled out: ${ruledOut.map(({ rule }) => code(rule)).join(', ')}.`]
      : [];
  const open = notApplicable.map(({ rule, missing }) => `- ${code(rule)}: without ${text(missing.join(', '))}`);
  const broken = failed.map(({ rule, error }) => `- ${code(rule)} failed, a fault of stallcap: ${text(error)}`);
  const list = [...open, ...broken].join('\n');
  return [...judged, ...(list === '' ? [] : ['## Not judged', list])];
}

function missingSection({ missing }: Report): readonly string[] {
  if (missing.length === 0) return [];
  const rows = missing.slice(0, 50).map(({ what, outcome, detail }) => {
    return `- ${code(what)}: ${text(outcome)}${detail === null ? '' : ` (${text(detail.split('\n')[0] ?? '')})`}`;
  });
  return ['## Missing from the bundle', rows.join('\n')];
}
