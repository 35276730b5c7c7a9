import { printable } from '../formats/escape.ts';
import { durationWords } from './ages.ts';
import type { StatusCheck } from './check-status.ts';
import type { ListedContainer, ListedSandbox } from './list-sandboxes.ts';
import { blockedWords, shortId } from './sandbox-words.ts';
import { textTable } from './text-table.ts';

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
export function checkWords({ compared, disagreements, gaps }: StatusCheck): string {
  const verdict =
    disagreements.length === 0
      ? `${compared} status files compared with /proc: no disagreement.\n`
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
  return gaps.length === 0 ? verdict : `${verdict}Not read, and so not compared:\n${gaps.map(gapLine).join('')}`;
}

function gapLine({ path, outcome }: StatusCheck['gaps'][number]): string {
  return `  ${printable(path)}: ${outcome}\n`;
}
