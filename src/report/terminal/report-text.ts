import { formatDuration } from '../../formats/duration.ts';
import { printable } from '../../formats/escape.ts';
import type { Report, ReportedFinding } from '../report.ts';
import { containerLabel, sourcesOf } from '../views.ts';
import {
  ageWords,
  captureWords,
  clock,
  OUTCOME_WORDS,
  placeOf,
  timelineLines,
  versionWords,
  viewWords,
} from '../words.ts';
import { type Paint, PLAIN } from './paint.ts';
import { oneLine, WIDTH, wrap } from './wrap.ts';

/** The report for a terminal: 80 columns, safe whatever is in the bundle. Ends with a newline. */
export function reportText(report: Report, paint: Paint = PLAIN): string {
  const sections = [
    headOf(report, paint),
    ...report.findings.map(finding => findingLines(finding, report.headline, paint)),
    chainLines(report, paint),
    unexplainedLines(report, paint),
    viewsLines(report, paint),
    timelineSection(report, paint),
    ruledOutLines(report, paint),
    missingLines(report, paint),
  ];
  const text = sections.filter(lines => lines.length > 0).map(lines => lines.join('\n'));
  return `${text.join('\n\n')}\n`;
}

function headOf({ capture, outcome, headline }: Report, paint: Paint): readonly string[] {
  const colour = outcome === 'stall' ? paint.bad : outcome === 'none' ? paint.good : paint.doubtful;
  return [
    ...wrap(captureWords(capture)).map(paint.strong),
    ...wrap(versionWords(capture)).map(paint.faint),
    '',
    ...wrap(outcome === 'none' ? headline : `${OUTCOME_WORDS[outcome]}: ${headline}`).map(colour),
  ];
}

/** What the head of the report says already is not said again. */
function findingLines(finding: ReportedFinding, headline: string, paint: Paint): readonly string[] {
  const { title, verdict, kind, rule, says, because, next } = finding;
  const label = kind === 'stall' ? verdict.toUpperCase() : 'BESIDES';
  const colour = kind !== 'stall' ? paint.faint : verdict === 'proved' ? paint.bad : paint.doubtful;
  const age = ageWords(finding);
  return [
    ...wrap(`${label}: ${title} [${rule}]`).map(colour),
    ...(headline.endsWith(says) ? [] : wrap(says, '  ')),
    ...(age === null ? [] : wrap(age, '  ').map(paint.faint)),
    ...because.flatMap(citation => [
      ...wrap(placeOf(citation), '  > ').map(paint.faint),
      ...wrap(citation.text, '    '),
    ]),
    ...next.flatMap(step => wrap(step, '  - ')),
  ];
}

function chainLines({ chain }: Report, paint: Paint): readonly string[] {
  if (chain === null || chain.steps.length < 2) return [];
  const steps = chain.steps.flatMap(({ says, verdict }, index) =>
    wrap(verdict === 'likely' ? `${says} (likely)` : says, index === 0 ? '  ' : '  ← '),
  );
  const end =
    chain.endsBefore === null ? [] : wrap(`what ${chain.endsBefore} waits for is not known`, '  ← ').map(paint.faint);
  return [paint.strong('Who waits for whom'), ...steps, ...end];
}

function unexplainedLines({ unexplained }: Report, paint: Paint): readonly string[] {
  if (unexplained.length === 0) return [];
  const threads = unexplained.flatMap(({ tid, comm, state, call, wchan, ageMs, because }) => [
    ...wrap(`${comm} ${tid} in ${state} in ${call ?? wchan ?? 'an unknown place'} for ${formatDuration(ageMs)}`, '  '),
    ...because.slice(-1).flatMap(citation => wrap(placeOf(citation), '  > ').map(paint.faint)),
  ]);
  return [paint.strong('Stands still, and no known kind is the reason'), ...threads];
}

function viewsLines({ views }: Report, paint: Paint): readonly string[] {
  if (views.length === 0) return [];
  const rows = views.flatMap(table => [
    ...wrap(`${containerLabel(table)} ${table.id.slice(0, 12)}${table.disagree ? '  (they disagree)' : ''}`, '  ').map(
      table.disagree ? paint.bad : paint.faint,
    ),
    ...sourcesOf([table]).map(source => oneLine(`    ${source.padEnd(16)} ${viewWords(table, source)}`)),
  ]);
  return [paint.strong('What each source believes'), ...rows];
}

const MAX_TIMELINE = 40;

function timelineSection(report: Report, paint: Paint): readonly string[] {
  const all = timelineLines(report);
  if (all.length < 2) return [];
  const shown = all.length <= MAX_TIMELINE ? all : [...all.slice(0, 10), null, ...all.slice(10 - MAX_TIMELINE)];
  let day = '';
  const lines = shown.flatMap(line => {
    if (line === null) return [paint.faint(`  … ${all.length - MAX_TIMELINE} more …`)];
    const date = line.at.slice(0, 10);
    const heading = date === day ? [] : [paint.faint(`  ${date}`)];
    day = date;
    const first = `  ${clock(line.at)} ${line.layer.padEnd(11)} `;
    return [...heading, ...cutLines(line.words, first).map(line.bad ? paint.doubtful : text => text)];
  });
  const { gap } = report.timeline;
  const silence =
    gap === null
      ? []
      : wrap(`${gap.what}, from ${clock(gap.from)} to ${clock(gap.to)}: ${formatDuration(gap.ms)}.`, '  ');
  return [paint.strong('Timeline (UTC)'), ...lines, ...silence];
}

/** Two lines of one event are enough to know it by. */
function cutLines(text: string, first: string): readonly string[] {
  const room = 2 * (WIDTH - first.length) - 10;
  return wrap(text.length <= room ? text : `${text.slice(0, room)}…`, first);
}

function ruledOutLines({ ruledOut, notApplicable, failed, outcome }: Report, paint: Paint): readonly string[] {
  const names = ruledOut.map(({ rule }) => rule).join(', ');
  return [
    ...(names === '' || outcome === 'stall' ? [] : [paint.strong('Ruled out'), ...wrap(names, '  ')]),
    ...(notApplicable.length === 0 || outcome === 'stall' ? [] : [paint.strong('Not judged, for want of evidence')]),
    ...(outcome === 'stall'
      ? []
      : notApplicable.flatMap(({ rule, missing }) => wrap(`${rule}: ${missing.join(', ')}`, '  '))),
    ...failed.flatMap(({ rule, error }) => wrap(`Rule ${rule} failed, which is a fault of stallcap: ${error}`)),
  ];
}

const MAX_MISSING = 12;

function missingLines({ missing }: Report, paint: Paint): readonly string[] {
  if (missing.length === 0) return [];
  const rows = missing.slice(0, MAX_MISSING).map(({ what, outcome, detail }) => {
    return oneLine(`  ${what}: ${outcome}${detail === null ? '' : ` (${printable(detail.split('\n')[0] ?? '')})`}`);
  });
  const rest = missing.length - rows.length;
  return [paint.strong('Missing from the bundle'), ...rows, ...(rest > 0 ? [`  and ${rest} more`] : [])];
}
