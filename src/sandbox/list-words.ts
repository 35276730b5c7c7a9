import { formatDuration } from '../formats/duration.ts';
import { printable } from '../formats/escape.ts';
import { textTable } from '../formats/text-table.ts';
import { durationWords } from './ages.ts';
import type { ShimAudit } from './audit-shims.ts';
import type { StatusCheck } from './check-status.ts';
import type { ListedContainer, ListedSandbox } from './list-sandboxes.ts';
import { answers, type ProbedShim } from './probe-shims.ts';
import { blockedWords, shortId } from './sandbox-words.ts';

/** Blocked threads that are shown of one sandbox; a frozen disk blocks dozens in the same place. */
const MOST_BLOCKED = 3;
const WIDTH = 100;

/** What `stallcap list` prints: a row for each sandbox, and below it what is blocked, the longest first. */
export function listWords(sandboxes: readonly ListedSandbox[]): string {
  if (sandboxes.length === 0) return 'There is no sandbox on this node.\n';
  const [titles = '', ...lines] = textTable(
    ['POD', 'SANDBOX', 'SHIM', 'AGE', 'CONTAINERS'],
    sandboxes.map(({ name, id, shims, ageSeconds, containers }) => [
      name,
      shortId(id),
      shims.map(({ pid, bundleDeleted }) => `${pid}${bundleDeleted ? ' (bundle deleted)' : ''}`).join(',') || 'none',
      durationWords(ageSeconds),
      containersWords(containers),
    ]),
  ).split('\n');
  const rows = sandboxes.flatMap(({ blocked }, index) => [lines[index] ?? '', ...blockedLines(blocked)]);
  return `${[titles, ...rows].join('\n')}\n`;
}

/** `app,sidecar (dead)`; the pause container stands for the pod and is named only when it is dead. */
function containersWords(containers: readonly ListedContainer[]): string {
  const words = containers.flatMap(({ kind, name, id, initAlive }) => {
    const dead = initAlive === false ? ' (dead)' : '';
    if (kind === 'sandbox') return dead === '' ? [] : [`pause${dead}`];
    return [`${name ?? shortId(id)}${dead}`];
  });
  return words.join(',') || '-';
}

function blockedLines(blocked: ListedSandbox['blocked']): readonly string[] {
  const more = blocked.length - MOST_BLOCKED;
  return [
    ...blocked.slice(0, MOST_BLOCKED).map(thread => `  blocked: ${printable(blockedWords(thread))}`.slice(0, WIDTH)),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** What `--check` adds. */
export function checkWords(check: StatusCheck & ShimAudit): string {
  const { compared, disagreements, gaps } = check;
  const verdict =
    disagreements.length === 0
      ? compared === 0
        ? 'No status file was compared with /proc.\n'
        : `${compared} status files compared with /proc: no disagreement.\n`
      : `${compared} status files compared with /proc: ${disagreements.length} disagree.\n\n${textTable(
          ['CONTAINER', 'POD', 'ID', 'STATUS FILE', '/PROC', 'WRITTEN'],
          disagreements.map(row => [
            row.containerName ?? '-',
            row.sandbox ?? 'no bundle',
            shortId(row.containerId),
            `${row.by} says ${row.says}`,
            row.initAlive ? `${row.initPid} is alive` : `${row.initPid ?? 'init'} is gone`,
            row.writtenSecondsAgo === null ? '-' : `${durationWords(row.writtenSecondsAgo)} ago`,
          ]),
        )}`;
  const unread = gaps.length === 0 ? '' : `Not read, and so not compared:\n${gaps.map(gapLine).join('')}`;
  return verdict + auditWords(check) + unread;
}

function auditWords({ shimsWithoutChildren, bundlesWithoutShim }: ShimAudit): string {
  const idle = textTable(
    ['POD', 'SHIM', 'ID', 'AGE'],
    shimsWithoutChildren.map(shim => [
      shim.sandbox,
      String(shim.pid),
      shortId(shim.id),
      durationWords(shim.ageSeconds),
    ]),
  );
  const lost = textTable(
    ['CONTAINER', 'POD', 'BUNDLE'],
    bundlesWithoutShim.map(bundle => [
      bundle.containerName ?? shortId(bundle.containerId),
      bundle.sandbox,
      bundle.path,
    ]),
  );
  return [
    shimsWithoutChildren.length === 0 ? '' : `\nShims with no process below them:\n\n${idle}`,
    bundlesWithoutShim.length === 0 ? '' : `\nBundles whose shim is gone:\n\n${lost}`,
  ].join('');
}

function gapLine({ path, outcome }: StatusCheck['gaps'][number]): string {
  return `  ${printable(path)}: ${outcome}\n`;
}

/** Answers that are slower than any of a shim that is well are shown, too. */
const SLOW_MS = 200;

/** What `--probe` adds. */
export function probeWords(probed: readonly ProbedShim[]): string {
  const latencies = probed
    .filter(answers)
    .flatMap(({ latencyMs }) => latencyMs ?? [])
    .toSorted((a, b) => a - b);
  const range = [...new Set([latencies.at(0), latencies.at(-1)].flatMap(ms => ms ?? []).map(formatDuration))];
  const silent = probed.filter(shim => !answers(shim)).length;
  const verdict = `${probed.length} shims asked: ${latencies.length} answered${range.length === 0 ? '' : ` in ${range.join(' to ')}`}${silent === 0 ? '' : `, ${silent} did not`}.\n`;
  const shown = probed.filter(shim => !answers(shim) || (shim.latencyMs ?? 0) >= SLOW_MS);
  if (shown.length === 0) return verdict;
  const rows = shown.map(shim => [shim.sandbox, String(shim.pid), answerWords(shim), shim.detail ?? '']);
  return `${verdict}\n${textTable(['POD', 'SHIM', 'CONNECT', ''], rows)}`;
}

function answerWords(shim: ProbedShim): string {
  if (answers(shim)) return `after ${formatDuration(shim.latencyMs ?? 0)}`;
  return shim.outcome === 'ok' ? `answered by ${shim.answeredBy}` : shim.outcome;
}
