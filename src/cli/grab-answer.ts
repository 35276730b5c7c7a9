import { gaps } from '../bundle/gaps.ts';
import type { GrabResult } from '../bundle/grab-result.ts';
import type { Grabbed } from '../capture/grab-request.ts';
import { EXIT, type ExitCode } from '../errors.ts';
import { formatDuration, formatSize } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import type { ViewsDocument } from '../formats/views/document.ts';
import { blockedThreads } from '../report/blocked.ts';
import type { Report } from '../report/report.ts';
import { summaryLines } from '../report/summary.ts';
import { disagrees, shimWords, viewsRows } from '../report/views-table.ts';
import type { Target } from '../sandbox/types.ts';

/** What `stallcap grab --json` prints: schemas/grab.schema.json. */
export function grabResult(grabbed: Grabbed, firstStackMs: number | null): GrabResult {
  const { manifest, sealed, seen } = grabbed;
  const { capture, items } = manifest;
  return {
    ...{ bundle: sealed.path, outcome: capture.outcome, exitCode: exitCodeOf(grabbed) },
    target: targetRecord(manifest.target),
    ...{ startedAt: capture.startedAt, durationMs: capture.durationMs, bytes: sealed.bytes, firstStackMs },
    blocked: blockedThreads(seen.threadDumps, manifest.host.architecture).map(thread => ({
      ...{ pid: thread.pid, tid: thread.tid, comm: thread.comm, wchan: thread.wchan },
      ...{ syscall: thread.syscall, blockedForMs: thread.blockedForMs },
    })),
    missing: gaps(manifest),
    items: items.length,
    redactions: items.reduce((sum, item) => sum + item.redactions, 0),
    signals: manifest.signals.map(({ pid, outcome, dump }) => ({ pid, outcome, dump })),
    ...{ stuckProbes: manifest.stuckProbes.length, abandoned: sealed.abandoned, verdict: verdictOf(seen.report) },
  };
}

/** 0 complete, 3 with something missing, 1 when the engine itself failed; a bundle was written in any case. */
export function exitCodeOf({ manifest }: Grabbed): Extract<ExitCode, 0 | 1 | 3> {
  if (manifest.capture.outcome === 'failed') return EXIT.fault;
  // A remnant is a pod that has no shim any more: what mattered most is missing, however well the rest was got.
  const whole = manifest.capture.outcome === 'complete' && manifest.target.kind !== 'remnant';
  return whole ? EXIT.complete : EXIT.incomplete;
}

/** The closing words on stderr, under 15 lines. */
export function grabWords(grabbed: Grabbed): string {
  const { manifest, sealed, seen } = grabbed;
  const architecture = manifest.host.architecture;
  const moved = sealed.abandoned.map(({ place, reason }) => `${place} (${reason})`);
  const where = sealed.path ?? 'standard output';
  const size = `${formatSize(sealed.bytes)}, ${manifest.items.length} entries, ${formatDuration(manifest.capture.durationMs)}`;
  const stopped = manifest.capture.outcome === 'interrupted' ? [`Interrupted: ${manifest.capture.reason}`] : [];
  const summary = [...stopped, ...summaryLines({ ...seen, architecture })];
  const closing = [
    ...(moved.length > 0 ? [printable(`Not written to ${moved.join(', ')}`)] : []),
    `Bundle: ${printable(where)} (${size})`,
    ...(sealed.path === null ? [] : [`Next: stallcap report ${printable(sealed.path)}`]),
  ];
  const room = MOST_LINES - summary.length - closing.length;
  return [...summary, ...(seen.views === null ? [] : viewsLines(seen.views, room)), ...closing, ''].join('\n');
}

/** Somebody reads them at night, below the progress of the run. */
const MOST_LINES = 14;
/** Titles, and when each source was asked. */
const TABLE_LINES = 2;

/** Only where sources disagree: what each of them says, in so many lines. */
function viewsLines(views: ViewsDocument, room: number): readonly string[] {
  if (!disagrees(views) || room < 1) return [];
  const rows = Math.min(room - TABLE_LINES - 1, views.containers.length);
  if (rows < 1) return ['What the sources say of its containers cannot all be true: see runtime/views.json'];
  // Of a docker pod with a shim for each container, those that are silent.
  const shims = views.shims.length === 1 ? views.shims : views.shims.filter(({ outcome }) => outcome !== 'ok');
  const title = ['What each source says (! cannot be true)', ...shims.map(shimWords)].join('; ');
  const table = viewsRows(views, { most: rows }).trimEnd().split('\n');
  return [`${title}:`, ...table.slice(0, room - 1)];
}

function verdictOf(report: Report | null): GrabResult['verdict'] {
  if (report === null) return null;
  const { outcome, headline, findings, chain } = report;
  return {
    ...{ outcome, headline, chain: chain?.sentence ?? null },
    findings: findings.map(({ rule, kind, verdict, says, ageMs }) => ({ rule, kind, verdict, says, ageMs })),
  };
}

function targetRecord(target: Target): GrabResult['target'] {
  const nobody = { id: null, namespace: null, pod: null, uid: null, shimPids: [] };
  if (target.kind === 'node') return { kind: target.kind, ...nobody };
  const pod = target.kind === 'sandbox' ? target.sandbox.pod : target.remnant.pod;
  const names = { namespace: pod?.namespace ?? null, pod: pod?.name ?? null, uid: pod?.uid ?? null };
  if (target.kind === 'remnant') return { kind: target.kind, ...nobody, ...names };
  const { id, shims } = target.sandbox;
  return { kind: target.kind, id, ...names, shimPids: shims.map(({ pid }) => pid) };
}
