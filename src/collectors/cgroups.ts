import type { Evidence } from '../bundle/evidence.ts';
import type { FileRequest, FileResult } from '../host/port.ts';
import { filesOf, type Part } from './cgroup-files.ts';
import { type CgroupPlace, cgroupsOf } from './cgroup-tree.ts';
import type { Capture, Collector } from './collector.ts';
import { concatenate } from './concatenate.ts';
import { deadlineOf } from './evidence-of.ts';

/** Files per request: a probe that has to be replaced loses no more than this, and no message grows beyond some MB. */
const BATCH = 2000;

/** Limits and states of every cgroup that shares the node's disk, and all files of the target's containers. */
export const cgroups: Collector = {
  name: 'cgroups',
  phase: 'sweep',
  deadlineMs: 6000,
  async *collect(capture) {
    const { own, sharers, leftOut } = await cgroupsOf(capture);
    for (const [id, places] of own) {
      const files = await readPlaces(capture, places, ['counters', 'state', 'limits']);
      const evidence = concatenate(`containers/${id}/cgroup.txt`, sourceOf(places), files);
      yield evidence.outcome === 'absent' ? { ...evidence, detail: 'the cgroup was removed' } : evidence;
    }
    // Their counters are sampled.
    const files = await readPlaces(capture, sharers, ['state', 'limits']);
    const evidence = concatenate('node/cgroups.txt', '/sys/fs/cgroup', files);
    yield leftOut === 0 ? evidence : capped(evidence, leftOut, sharers.length);
  },
};

/** The files of these cgroups, in their order; those that do not exist among them, as `gone`. */
export async function readPlaces(
  capture: Capture,
  places: readonly CgroupPlace[],
  parts: readonly Part[],
): Promise<readonly FileResult[]> {
  const requests: FileRequest[] = places.flatMap(({ path, hierarchies }) =>
    hierarchies.flatMap(hierarchy => filesOf(hierarchy, path, parts)),
  );
  const results: FileResult[] = [];
  for (let from = 0; from < requests.length; from += BATCH) {
    results.push(...(await capture.host.readRisky(requests.slice(from, from + BATCH), deadlineOf(capture))));
  }
  return results;
}

function sourceOf(places: readonly CgroupPlace[]): string {
  const directories = places.flatMap(({ path, hierarchies }) => hierarchies.map(({ mountPoint }) => mountPoint + path));
  return directories.length === 0 ? '/sys/fs/cgroup' : directories.join(' ');
}

function capped(evidence: Evidence, leftOut: number, read: number): Evidence {
  const detail = [evidence.detail, `${read} of ${read + leftOut} cgroups read`].filter(Boolean).join('; ');
  return { ...evidence, outcome: 'truncated', detail };
}
