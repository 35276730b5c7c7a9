import type { Citation } from '../diagnosis/citation.ts';
import { formatDuration } from '../formats/duration.ts';
import type { Report, ReportedCapture, ReportedFinding } from './report.ts';
import type { TimelineEvent, TimelineSpan } from './timeline/event.ts';
import type { ContainerViewsTable } from './views.ts';
import { lastView } from './views.ts';

/** Sentences that every format of the report shares. None of them is made safe for where it will stand. */

/** `shop/web-0 on node-7, 2026-11-29 16:02:11 UTC, 5.8 s` */
export function captureWords({ target, host, startedAt, durationMs, cut }: ReportedCapture): string {
  const when = `${startedAt.slice(0, 19).replace('T', ' ')} UTC`;
  const took = durationMs === null ? '' : `, ${formatDuration(durationMs)}`;
  return `${target.name} on ${host.hostname}, ${when}${took}${cut ? ', cut before its end' : ''}`;
}

/** `kernel 6.18.44, containerd 1.6.20, runc 1.1.5, cgroup v1` */
export function versionWords({ host, versions }: ReportedCapture): string {
  const { containerd, runc, docker, kubelet, shimMajor } = versions;
  const named = Object.entries({ containerd, runc, docker, kubelet }).flatMap(([name, version]) =>
    version === null ? [] : [`${name} ${version}`],
  );
  const shim = shimMajor === null ? [] : [`shim of containerd ${shimMajor}`];
  const cgroup =
    host.cgroupVersion === null
      ? []
      : [`cgroup ${host.cgroupVersion === 'hybrid' ? 'hybrid' : `v${host.cgroupVersion}`}`];
  return [`kernel ${host.kernel}`, ...named, ...shim, ...cgroup].join(', ');
}

/** `for 14 min 3 s (the scheduler's clock: …)` */
export function ageWords({ ageMs, ageFrom }: Pick<ReportedFinding, 'ageMs' | 'ageFrom'>): string | null {
  return ageMs === null ? null : `for ${formatDuration(ageMs)}${ageFrom === null ? '' : `, by ${ageFrom}`}`;
}

/** `shim/threads-4.txt:12` */
export function placeOf({ entry, line }: Citation): string {
  return line === null ? entry : `${entry}:${line}`;
}

/** What `outcome` means, in one or two words. */
export const OUTCOME_WORDS: Readonly<Record<Report['outcome'], string>> = {
  stall: 'Stall',
  unexplained: 'Unexplained',
  none: 'No stall found',
};

/** `running (CONTAINER_RUNNING)`, `-` for a source that said nothing. */
export function viewWords(table: ContainerViewsTable, source: string): string {
  const view = lastView(table, source);
  if (view === null) return '-';
  const took = view.tookMs !== null && view.tookMs >= 1000 ? ` after ${formatDuration(view.tookMs)}` : '';
  const word = view.word.toLowerCase().endsWith(view.says) ? '' : ` (${view.word})`;
  return `${view.says}${word}${took}`;
}

/** `3 times up to 16:02:11` */
export function repeatWords({ count, until }: TimelineEvent): string {
  return count === 1 || until === null ? '' : ` (${count} times, last ${clock(until)})`;
}

/** Time of day of an ISO time, with ms. */
export function clock(at: string): string {
  return at.slice(11, 23);
}

export interface TimelineLine {
  readonly at: string;
  readonly layer: string;
  readonly words: string;
  readonly cite: Citation | null;
  readonly bad: boolean;
}

/** Events and the beginnings of what stood still and of the capture, oldest first, in words. */
export function timelineLines({ timeline }: Report): readonly TimelineLine[] {
  const lines = timeline.events.map(event => ({
    ...{ at: event.at, layer: event.layer, cite: event.cite, bad: event.severity === 'bad' },
    words: `${event.of === null ? '' : `${event.of} `}${event.what}${repeatWords(event)}`,
  }));
  const spans = timeline.spans.filter(({ kind }) => kind === 'stuck' || kind === 'capture').map(spanLine);
  return [...lines, ...spans].toSorted((a, b) => a.at.localeCompare(b.at));
}

function spanLine({ from, to, layer, of, what, kind, cite }: TimelineSpan): TimelineLine {
  const lasted = formatDuration(Date.parse(to) - Date.parse(from));
  const words = kind === 'stuck' ? `${of} stands still from here on, ${what}, for ${lasted}` : `${what}, ${lasted}`;
  return { at: from, layer, words, cite, bad: kind === 'stuck' };
}
