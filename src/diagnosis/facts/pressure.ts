import type { DiskStats } from '../../formats/proc/diskstats.ts';
import { parseMeminfo } from '../../formats/proc/meminfo.ts';
import { parsePressure, type Pressure as Reading } from '../../formats/proc/pressure.ts';
import { cite } from '../citation.ts';
import type {
  ContainerFacts,
  DeviceFacts,
  DirtyFacts,
  DirtySample,
  DiskChain,
  Pressure,
  PressureFacts,
  PressureShare,
} from '../facts.ts';
import { chainsOfTarget } from './disk-chains.ts';
import { citeFirst, type Entries } from './entries.ts';
import { SAMPLES, type Samples } from './samples.ts';

const KINDS = ['io', 'memory', 'cpu'] as const;

interface Point {
  readonly offsetMs: number;
  readonly line: number;
  readonly reading: Reading | null;
}

/** Pressure stall information over the samples; with none, the averages of one reading. Null where the kernel has none. */
export function pressureFrom(
  entries: Entries,
  samples: Samples | null,
  containers: readonly ContainerFacts[] | null,
): PressureFacts | null {
  const node = Object.fromEntries(KINDS.map(kind => [kind, nodeShare(entries, samples, kind)])) as unknown as Pressure;
  if (KINDS.every(kind => node[kind] === null)) return null;
  const pod = new Map<string, Pressure>();
  for (const { id, cgroup } of containers ?? []) {
    const series = cgroup === null || cgroup === 'absent' ? undefined : samples?.cgroups.get(cgroup.path);
    if (series === undefined) continue;
    const own = Object.fromEntries(
      KINDS.map(kind => {
        const points = [series.first, series.last].map(({ offsetMs, line, pressure }) => {
          return { offsetMs, line, reading: pressure[kind] };
        });
        return [kind, shareOf(points, `${kind}.pressure of ${id}`)];
      }),
    ) as unknown as Pressure;
    if (KINDS.some(kind => own[kind] !== null)) pod.set(id, own);
  }
  return { node, pod };
}

function nodeShare(entries: Entries, samples: Samples | null, kind: (typeof KINDS)[number]): PressureShare | null {
  const points =
    samples?.node.map(({ offsetMs, line, pressure }) => ({ offsetMs, line, reading: pressure[kind] })) ?? [];
  const share = shareOf(points, `/proc/pressure/${kind}`);
  if (share !== null) return share;
  const path = `node/pressure/${kind}`;
  const text = entries.text(path);
  const { some, full } = parsePressure(text ?? '');
  if (text === null || (some === null && full === null)) return null;
  const averages = { avg10Some: some?.avg10 ?? null, avg10Full: full?.avg10 ?? null, avg60Full: full?.avg60 ?? null };
  return { some: null, full: null, series: [], ...averages, cite: citeFirst(path, text, /^full/) };
}

function shareOf(points: readonly Point[], what: string): PressureShare | null {
  const read = points.filter(({ reading }) => reading !== null);
  const [first, last] = [read[0], read.at(-1)];
  if (first === undefined || last?.reading == null) return null;
  const grown = (from: Point, to: Point, kind: 'some' | 'full') => {
    const elapsedUs = (to.offsetMs - from.offsetMs) * 1000;
    const [before, after] = [from.reading?.[kind], to.reading?.[kind]];
    if (before == null || after == null || elapsedUs <= 0) return null;
    return Math.min(1, Math.max(0, after.totalUs - before.totalUs) / elapsedUs);
  };
  const series = read.slice(1).map((to, index) => {
    const from = read[index] ?? first;
    return { untilMs: to.offsetMs, some: grown(from, to, 'some') ?? 0, full: grown(from, to, 'full') ?? 0 };
  });
  const { some, full } = last.reading;
  const words = full === null ? '' : ` full avg10=${full.avg10.toFixed(2)} total=${full.totalUs}`;
  return {
    ...{ some: grown(first, last, 'some'), full: grown(first, last, 'full'), series },
    ...{ avg10Some: some?.avg10 ?? null, avg10Full: full?.avg10 ?? null, avg60Full: full?.avg60 ?? null },
    cite: cite(
      SAMPLES,
      last.line,
      `${what}: some avg10=${(some?.avg10 ?? 0).toFixed(2)} total=${some?.totalUs ?? 0}${words}`,
    ),
  };
}

/** Dirty pages over the samples, and how long the device below the target needs for them at the rate at which it wrote. */
export function dirtyFrom(
  entries: Entries,
  samples: Samples | null,
  devices: DeviceFacts | null,
  chains: readonly DiskChain[],
): DirtyFacts | null {
  const own = chainsOfTarget(chains);
  const device =
    own.find(({ role, devices: names }) => role === 'writable layer' && names.length > 0) ??
    own.find(({ devices: names }) => names.length > 0);
  const name = device?.devices[0] ?? null;
  const ofDevice = name === null ? [] : samplesOfDevice(samples, name);
  const [first, ...rest] = ofDevice.length > 0 ? ofDevice : dirtySamples(entries, samples);
  if (first === undefined) return null;
  const last = rest.at(-1) ?? first;
  const bytes = last.dirtyBytes + last.writebackBytes;
  const rate = devices?.all.find(candidate => candidate.name === name)?.rates?.writtenBytesPerSecond ?? null;
  return {
    of: ofDevice.length > 0 ? 'device' : 'node',
    samples: [first, ...rest],
    bytes,
    device: name,
    writtenBytesPerSecond: rate,
    drainMs: rate === null || rate === 0 ? null : (bytes / rate) * 1000,
  };
}

/** A disk for which nothing was dirty at first is in no sample. */
function samplesOfDevice(samples: Samples | null, name: string): readonly DirtySample[] {
  return (samples?.node ?? []).flatMap(({ offsetMs, line, disks, dirtyOf }) => {
    const device = wholeDisk(name, disks);
    const stats = device === undefined ? undefined : dirtyOf.get(`${device.major}:${device.minor}`);
    if (stats === undefined) return [];
    const text = `BdiReclaimable: ${stats.dirtyBytes / 1024} kB, BdiWriteback: ${stats.writebackBytes / 1024} kB of ${device?.name}`;
    return [{ offsetMs, ...stats, cite: cite(SAMPLES, line, text) }];
  });
}

/** Pages are accounted to the disk, whichever partition they are for: `nvme0n1p2` -> `nvme0n1`, `sda1` -> `sda`. */
function wholeDisk(name: string, disks: readonly DiskStats[]): DiskStats | undefined {
  const whole = /^(.+\d)p\d+$/.exec(name)?.[1] ?? /^([a-z]+)\d+$/.exec(name)?.[1];
  return disks.find(disk => disk.name === whole) ?? disks.find(disk => disk.name === name);
}

function dirtySamples(entries: Entries, samples: Samples | null): readonly DirtySample[] {
  const sampled = (samples?.node ?? []).flatMap(({ offsetMs, line, dirtyBytes, writebackBytes }) => {
    if (dirtyBytes === null || writebackBytes === null) return [];
    const text = `Dirty: ${dirtyBytes / 1024} kB, Writeback: ${writebackBytes / 1024} kB`;
    return [{ offsetMs, dirtyBytes, writebackBytes, cite: cite(SAMPLES, line, text) }];
  });
  if (sampled.length > 0) return sampled;
  const text = entries.text('node/meminfo');
  const meminfo = parseMeminfo(text ?? '');
  const [dirtyBytes, writebackBytes] = [meminfo.get('Dirty'), meminfo.get('Writeback')];
  if (text === null || dirtyBytes === undefined || writebackBytes === undefined) return [];
  const offsetMs = entries.item('node/meminfo')?.offsetMs ?? 0;
  return [{ offsetMs, dirtyBytes, writebackBytes, cite: citeFirst('node/meminfo', text, /^Dirty:/) }];
}
