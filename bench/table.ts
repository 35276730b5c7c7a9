import type { ColdStart } from './cold-start.ts';
import type { Measured, Series } from './measure-size.ts';
import { median, medianRatio, short } from './statistics.ts';

const LOOP = "runbook's shell loop";
const MiB = 2 ** 20;

/** One Markdown table per size: medians, and each figure's ratio to the peer that the targets name. */
export function sizeTable({ threads, rounds, series }: Measured): string {
  const peer = (name: string) => series.find(one => one.name === name);
  const loop = peer(LOOP);
  const rows = series.map(one => [
    one.name,
    withRatio(one.firstStackMs, loop?.firstStackMs),
    short(median(one.wallMs)),
    withRatio(one.cpuMs, loop?.cpuMs),
    `${withRatio(one.sweepMs, peer('C, same files')?.sweepMs)} C, ${ratioOf(one, peer('ps -eLo'))} ps`,
    short(one.peakPss / MiB),
    short(one.largestRss / MiB),
  ]);
  const heads = [
    '',
    'first stack, ms',
    'end, ms',
    'CPU, ms',
    'sweep, ms',
    'peak PSS of all, MiB',
    'largest process, MiB',
  ];
  return `\n## ${threads} threads, medians of ${rounds} rounds, × to the shell loop\n\n${markdown(heads, rows)}`;
}

export function coldTable(cold: ColdStart): string {
  const rows = [
    ['stallcap by id, warm', short(cold.warmMs), '1'],
    [
      `stallcap by id, cold, binary on a disk that reads ${cold.readRate}/s`,
      short(cold.coldMs),
      short(cold.coldMs / cold.warmMs),
    ],
    ["runbook's shell loop, same node, warm", short(cold.loopMs), short(cold.loopMs / cold.warmMs)],
  ];
  return `\n## Cold start: first stack\n\n${markdown(['', 'first stack, ms', '× warm'], rows)}`;
}

function ratioOf(one: Series, peer: Series | undefined): string {
  return peer === undefined ? '–' : `${short(medianRatio(one.sweepMs, peer.sweepMs))} ×`;
}

function withRatio(own: readonly number[], peer: readonly number[] | undefined): string {
  return `${short(median(own))} (${peer === undefined ? '–' : short(medianRatio(own, peer))} ×)`;
}

function markdown(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map(width => '-'.repeat(width)).join(' | ')} |`;
  return `${[line(heads), rule, ...rows.map(line)].join('\n')}\n`;
}
