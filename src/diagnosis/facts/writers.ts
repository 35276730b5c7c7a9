import { podUidOfCgroup } from '../../formats/runtime/pod-uid.ts';
import { cite } from '../citation.ts';
import type { DeviceFacts, TargetFacts, Writer, WriterFacts } from '../facts.ts';
import { type CgroupSample, SAMPLES, type Samples } from './samples.ts';

/** Names of pods by uid, and of pods by container or sandbox id, as far as the bundle tells. */
export interface PodNames {
  readonly byUid: ReadonlyMap<string, string>;
  readonly byId: ReadonlyMap<string, string>;
}

/**
 * Who reads and writes, by cgroup, over the samples. Counters of a cgroup contain those below it, so only the lowest ones that were
 * sampled are taken: of the target its containers, of others their pods.
 */
export function writersFrom(
  samples: Samples | null,
  target: TargetFacts,
  names: PodNames,
  devices: DeviceFacts | null,
): WriterFacts | null {
  if (samples === null || samples.cgroupVersion === null) return null;
  const version = samples.cgroupVersion;
  const paths = [...samples.cgroups.keys()];
  const parents = new Set(paths.flatMap(ancestors));
  const disks = disksBelow(devices);
  const leaves = paths.filter(path => path !== '/' && !parents.has(path));
  const found = leaves.flatMap(path => {
    const series = samples.cgroups.get(path);
    return series === undefined ? [] : [{ path, ...series, ...ratesOf(series.first, series.last, disks) }];
  });
  const written = found.reduce((sum, { writtenBytesPerSecond }) => sum + writtenBytesPerSecond, 0);
  const all = found.map(({ path, last, writtenBytesPerSecond, readBytesPerSecond }): Writer => {
    const { dirtyBytes, writebackBytes } = last;
    const own = whoIs(path, target, names);
    return {
      ...{ cgroup: path, ...own, writtenBytesPerSecond, readBytesPerSecond },
      share: version === 1 || written === 0 ? null : writtenBytesPerSecond / written,
      ...{ dirtyBytes, writebackBytes },
      cite: cite(SAMPLES, last.line, describe(path, last)),
    };
  });
  const weight = ({ dirtyBytes, writebackBytes }: Writer) => (dirtyBytes ?? 0) + (writebackBytes ?? 0);
  return {
    version,
    all: all.toSorted((a, b) => b.writtenBytesPerSecond - a.writtenBytesPerSecond || weight(b) - weight(a)),
  };
}

function ancestors(path: string): readonly string[] {
  const parts = path.split('/').filter(Boolean);
  return parts.slice(0, -1).map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

/** The whole disks that carry the target: I/O of a cgroup is booked there, not on a partition. Null: any device counts. */
function disksBelow(devices: DeviceFacts | null): ReadonlySet<string> | null {
  const own = devices?.all.filter(({ roles }) => roles.some(role => role !== 'root filesystem')) ?? [];
  const names = new Set(own.flatMap(({ name, below }) => [name, ...below]));
  const numbers = devices?.all.filter(({ name }) => names.has(name)).map(({ number }) => number) ?? [];
  return numbers.length === 0 ? null : new Set(numbers);
}

function ratesOf(first: CgroupSample, last: CgroupSample, disks: ReadonlySet<string> | null) {
  const seconds = (last.offsetMs - first.offsetMs) / 1000;
  const sum = (sample: CgroupSample, key: 'readBytes' | 'writtenBytes') =>
    (sample.io ?? []).reduce((total, io) => total + (disks === null || disks.has(io.device) ? io[key] : 0), 0);
  // The same bytes are booked on dm-0 and on the disk below it; the larger share of several devices is near enough for a ranking.
  const rate = (key: 'readBytes' | 'writtenBytes') =>
    seconds <= 0 ? 0 : Math.max(0, sum(last, key) - sum(first, key)) / seconds;
  return { writtenBytesPerSecond: rate('writtenBytes'), readBytesPerSecond: rate('readBytes') };
}

function whoIs(
  path: string,
  target: TargetFacts,
  names: PodNames,
): Pick<Writer, 'name' | 'podUid' | 'container' | 'ofTarget'> {
  const podUid = podUidOfCgroup(path);
  const id = /[0-9a-f]{64}/.exec(path)?.[0] ?? null;
  const ofTarget = (id !== null && target.ids.has(id)) || (podUid !== null && podUid === target.podUid);
  const known = ofTarget
    ? target.name
    : ((podUid === null ? null : names.byUid.get(podUid)) ?? (id === null ? null : names.byId.get(id)));
  const name = known ?? path.slice(path.lastIndexOf('/') + 1);
  return { name, podUid, container: id, ofTarget };
}

function describe(path: string, { io, dirtyBytes, writebackBytes }: CgroupSample): string {
  const devices = (io ?? []).map(
    ({ device, readBytes, writtenBytes }) => `${device} rbytes=${readBytes} wbytes=${writtenBytes}`,
  );
  const dirty = dirtyBytes === null ? [] : [`dirty ${dirtyBytes}`, `writeback ${writebackBytes ?? 0}`];
  return `${path}: ${[...devices, ...dirty].join(', ')}`;
}
