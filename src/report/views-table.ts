import { formatDuration } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import { textTable } from '../formats/text-table.ts';
import type { ShimView, ViewsDocument } from '../formats/views/document.ts';
import { type Judgement, judgeViews } from '../formats/views/judge.ts';
import { type ContainerViews, SOURCES, type Source, type View } from '../formats/views/view.ts';

const TITLES: Readonly<Record<Source, string>> = {
  '/proc': '/PROC',
  runc: 'RUNC',
  shim: 'SHIM',
  'CRI status file': 'CRI FILE',
  CRI: 'CRI',
  crictl: 'CRICTL',
  'config.v2.json': 'CONFIG.V2',
  docker: 'DOCKER',
};

export interface ViewsTableOptions {
  /** Rows beyond this are counted; those with a contradiction come first. Default: all. */
  readonly most?: number;
}

/** Whether any source says of any container what cannot be true. */
export function disagrees({ containers }: Pick<ViewsDocument, 'containers'>): boolean {
  return containers.some(container => judgeViews(container).contradictions.length > 0);
}

/** The rows, and below them how the shims answered Connect and what `!` means. */
export function viewsTable(document: ViewsDocument, options: ViewsTableOptions = {}): string {
  return [
    viewsRows(document, options),
    ...document.shims.map(shim => `${shimWords(shim)}\n`),
    ...(disagrees(document) ? ['! cannot be true beside what the others say\n'] : []),
  ].join('');
}

/**
 * What each source says of each container, one row for each: the last thing that it said, `!` behind what cannot be true
 * beside /proc, and in a row of its own when that was said. At most 100 columns wide, safe for a terminal.
 */
export function viewsRows(
  { containers }: Pick<ViewsDocument, 'containers'>,
  { most = Number.POSITIVE_INFINITY }: ViewsTableOptions = {},
): string {
  const judged = containers.map(container => ({ container, judgement: judgeViews(container) }));
  const wrongFirst = judged.toSorted((a, b) => wrongsOf(b) - wrongsOf(a));
  const shown = wrongFirst.slice(0, most);
  const sources = SOURCES.filter(source => shown.some(({ container }) => lastOf(container, source) !== undefined));
  const rows = shown.map(({ container, judgement }) => [
    nameOf(container),
    ...sources.map(source => cellOf(lastOf(container, source), judgement)),
  ]);
  const times = [
    'asked, UTC',
    ...sources.map(source => timeOf(shown.flatMap(({ container }) => lastOf(container, source) ?? []))),
  ];
  const more = judged.length - shown.length;
  const table = textTable(['CONTAINER', ...sources.map(source => TITLES[source])], [...rows, times]);
  return more > 0 ? `${table}and ${more} more\n` : table;
}

function wrongsOf({ judgement }: { readonly judgement: Judgement }): number {
  return judgement.contradictions.length;
}

/** The pause container has no name of its own. */
function nameOf({ name, kind, id }: ContainerViews): string {
  return name ?? (kind === 'sandbox' ? 'pause' : id.slice(0, 12));
}

function lastOf({ views }: ContainerViews, source: Source): View | undefined {
  return views.findLast(view => view.source === source);
}

function cellOf(view: View | undefined, { contradictions }: Judgement): string {
  if (view === undefined) return '-';
  const wrong = contradictions.some(({ view: { source } }) => source === view.source) ? '!' : '';
  return `${wordOf(view)}${wrong}${ageOf(view)}`;
}

/** Of a file: for how long it has said so. */
function ageOf({ source, since, at }: View): string {
  if (since === null || (source !== 'CRI status file' && source !== 'config.v2.json')) return '';
  return ` for ${formatDuration(Math.max(0, Date.parse(at) - Date.parse(since)))}`;
}

/** Without what every word of CRI begins with; with how long it took to say nothing. */
function wordOf({ source, word, says, pid, tookMs }: View): string {
  if (source === '/proc' && pid !== null) return `${word} ${pid}`;
  if (says === 'unknown' && tookMs !== null) return `${word} ${formatDuration(tookMs)}`;
  return word.replace(/^(CONTAINER|SANDBOX)_/, '');
}

/** `12:00:03.1`, UTC: of the first one that was asked, since all are asked within a moment. */
function timeOf(views: readonly View[]): string {
  const [first] = views.map(({ at }) => at).toSorted();
  return first === undefined ? '' : first.slice(11, 21);
}

/** `shim 2623 answered Connect in 4 ms` */
export function shimWords({ pid, outcome, latencyMs, answeredBy, detail }: ShimView): string {
  if (outcome === 'ok' && answeredBy === pid) return `shim ${pid} answered Connect in ${formatDuration(latencyMs)}`;
  if (outcome === 'ok') return `at the socket of shim ${pid} answers ${answeredBy}`;
  return printable(`shim ${pid} did not answer Connect: ${detail ?? outcome}`);
}
