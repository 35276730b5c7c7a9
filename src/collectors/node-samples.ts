import { parseBdiStats } from '../formats/bdi-stats.ts';
import type { FileResult } from '../host/port.ts';
import { cgroupsOf } from './cgroup-tree.ts';
import { readPlaces } from './cgroups.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, isMissing, namesIn, spanOf } from './evidence-of.ts';

/** Counters of the node whose growth from sample to sample tells rates, and that something never moved. */
const PROC_FILES = ['diskstats', 'pressure/io', 'pressure/memory', 'pressure/cpu', 'meminfo', 'vmstat', 'loadavg'];

/** What waits to be written to each disk. Not there without debugfs. */
const BDI = '/sys/kernel/debug/bdi';
const MOST_DISKS = 64;

/**
 * node/samples.jsonl: one JSON object per round, the files' text as it was read:
 *
 *     {"sample":1,"time":"2026-11-29T11:42:35.120Z","offsetMs":812.4,"durationMs":6.2,
 *      "files":{"/proc/diskstats":"…","/sys/fs/cgroup/kubepods/…/io.stat":"…"},"notRead":{"/proc/…":"timeout"}}
 *
 * `time` and `offsetMs` are those of the round's first read.
 */
export const nodeSamples: Collector = {
  name: 'node-samples',
  phase: 'samples',
  // As long as the run lets it: rounds() ends with --samples, and the run's own time bounds it.
  deadlineMs: 3_600_000,
  async *collect(capture) {
    const { own, sharers } = await cgroupsOf(capture);
    const target = [...own.values()].flat();
    const disks = await dirtyDisks(capture);
    const last = capture.options.samples;
    const lines: string[] = [];
    const spans: { offsetMs: number; durationMs: number }[] = [];
    for await (const sample of capture.rounds()) {
      const { wall } = capture.host.now();
      // Two points tell who wrote how much: of the many others, the first and the last.
      const others = sample === 1 || sample === last ? sharers : [];
      const files = [
        ...(await readNode(capture, disks)),
        ...(await readPlaces(capture, target, ['counters', 'state'])),
        ...(await readPlaces(capture, others, ['counters'])),
      ];
      spans.push(spanOf(files));
      lines.push(lineOf(sample, wall, files));
    }
    const missing = capture.options.samples - lines.length;
    yield {
      path: 'node/samples.jsonl',
      source: `/proc/{${PROC_FILES.join(',')}} and ${target.length + sharers.length} cgroups`,
      outcome: missing > 0 ? 'truncated' : 'ok',
      body: Buffer.from(lines.join('')),
      at: spanOf(spans),
      ...(missing > 0 ? { detail: `${lines.length} of ${capture.options.samples} samples` } : {}),
    };
  },
};

/** Before the cgroups: these are few, and cgroups of 300 pods take a moment. */
function readNode(capture: Capture, disks: readonly string[]): Promise<readonly FileResult[]> {
  return capture.host.readRisky(
    [...PROC_FILES.map(name => `/proc/${name}`), ...disks].map(path => ({ path })),
    deadlineOf(capture),
  );
}

/** Files of the disks for which something waits now: a node has dozens for which nothing does. */
async function dirtyDisks(capture: Capture): Promise<readonly string[]> {
  const [listing] = await capture.host.readRisky([{ path: BDI, what: 'dir' }], deadlineOf(capture, DEBUGFS_MS));
  if (listing?.outcome !== 'ok') return [];
  const paths = namesIn(listing).flatMap(name => (/^\d+:\d+\/$/.test(name) ? [`${BDI}/${name}stats`] : []));
  const files = await capture.host.readRisky(
    paths.slice(0, MOST_DISKS).map(path => ({ path })),
    deadlineOf(capture, DEBUGFS_MS),
  );
  return files.flatMap(({ path, body }) => {
    const stats = parseBdiStats(body.toString('latin1'));
    return stats !== null && stats.dirtyBytes + stats.writebackBytes > 0 ? [path] : [];
  });
}

const DEBUGFS_MS = 1000;

function lineOf(sample: number, time: string, results: readonly FileResult[]): string {
  const files: Record<string, string> = {};
  const notRead: Record<string, string> = {};
  for (const result of results) {
    if (isMissing(result)) continue;
    if (result.outcome === 'ok' || result.outcome === 'empty') files[result.path] = result.body.toString('utf8');
    else notRead[result.path] = result.detail === undefined ? result.outcome : `${result.outcome}, ${result.detail}`;
  }
  return `${JSON.stringify({ sample, time, ...spanOf(results), files, notRead })}\n`;
}
