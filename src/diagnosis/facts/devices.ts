import type { DiskStats } from '../../formats/proc/diskstats.ts';
import { parseDiskstats } from '../../formats/proc/diskstats.ts';
import { cite } from '../citation.ts';
import type { Device, DeviceFacts, DeviceRates, DeviceRole, DiskChain, MountFact } from '../facts.ts';
import { chainsOfTarget } from './disk-chains.ts';
import type { Entries } from './entries.ts';
import { type NodeSample, rowsByName, SAMPLES, type Samples } from './samples.ts';

const DISKSTATS = 'node/diskstats';

/** Devices over the samples. With none, what one reading of diskstats tells: what is in flight, and no rates. */
export function devicesFrom(
  entries: Entries,
  samples: Samples | null,
  chains: readonly DiskChain[],
  mounts: readonly MountFact[],
): DeviceFacts | null {
  const series = samples?.node.filter(({ disks }) => disks.length > 0) ?? [];
  const sampled = series.length > 0 ? series : singleReading(entries);
  const last = sampled.at(-1);
  if (last === undefined) return null;
  const entry = series.length > 0 ? SAMPLES : DISKSTATS;
  const roles = rolesIn(chains);
  const readings = sampled.map(sample => ({ sample, byName: new Map(sample.disks.map(disk => [disk.name, disk])) }));
  const byDevice = Map.groupBy(mounts, ({ device }) => device);
  const all = last.disks
    .filter(disk => disk.reads + disk.writes > 0 || disk.inFlight > 0 || roles.has(disk.name))
    .map(disk => deviceOf(disk, readings, entry, { roles, chains, mounts: byDevice }));
  const spanMs = last.offsetMs - (sampled[0]?.offsetMs ?? 0);
  return { all, samples: series.length, spanMs };
}

function singleReading(entries: Entries): readonly NodeSample[] {
  const text = entries.text(DISKSTATS);
  const disks = parseDiskstats(text ?? '');
  if (text === null || disks.length === 0) return [];
  const none = { io: null, memory: null, cpu: null };
  const rows = rowsByName(text);
  const offsetMs = entries.item(DISKSTATS)?.offsetMs ?? 0;
  return [
    { offsetMs, line: 1, disks, rows, pressure: none, dirtyBytes: null, writebackBytes: null, dirtyOf: new Map() },
  ];
}

function rolesIn(chains: readonly DiskChain[]): ReadonlyMap<string, ReadonlySet<DeviceRole>> {
  const roles = new Map<string, Set<DeviceRole>>();
  for (const { devices, role } of chainsOfTarget(chains)) {
    for (const name of devices) roles.set(name, (roles.get(name) ?? new Set()).add(role));
  }
  return roles;
}

interface Context {
  readonly roles: ReadonlyMap<string, ReadonlySet<DeviceRole>>;
  readonly chains: readonly DiskChain[];
  /** By the number of the device. */
  readonly mounts: ReadonlyMap<string, readonly MountFact[]>;
}

/** A node can have thousands of disks: they are looked up by name. */
interface Reading {
  readonly sample: NodeSample;
  readonly byName: ReadonlyMap<string, DiskStats>;
}

function deviceOf(disk: DiskStats, readings: readonly Reading[], entry: string, context: Context): Device {
  const { name } = disk;
  const number = `${disk.major}:${disk.minor}`;
  const seen = readings.flatMap(({ sample, byName }) => {
    const stats = byName.get(name);
    return stats === undefined ? [] : [{ sample, stats }];
  });
  const points = seen.map(({ sample, stats }) => ({ ...stats, offsetMs: sample.offsetMs }));
  const pairs = points.slice(1).map((point, index) => ratesBetween(points[index] ?? point, point));
  const [first, last] = [points[0], points.at(-1)];
  const own = context.mounts.get(number) ?? [];
  const roles = new Set(context.roles.get(name) ?? []);
  if (own.some(({ mountPoint }) => mountPoint === '/')) roles.add('root filesystem');
  if (own.some(({ ofPod }) => ofPod)) roles.add('pod volume');
  return {
    ...{ name, number, roles: [...roles] },
    mountPoints: [...new Set(own.map(({ mountPoint }) => mountPoint))],
    below: belowOf(name, context.chains),
    samples: seen.map(({ sample, stats }) => ({
      offsetMs: sample.offsetMs,
      inFlight: stats.inFlight,
      cite: cite(entry, entry === SAMPLES ? sample.line : null, sample.rows.get(name) ?? name),
    })),
    rates: first === undefined || last === undefined || points.length < 2 ? null : ratesBetween(first, last),
    intervals: pairs,
    alwaysInFlight: points.every(({ inFlight }) => inFlight > 0),
  };
}

/** Devices named after it in a chain lie below it. */
function belowOf(name: string, chains: readonly DiskChain[]): readonly string[] {
  const found = chains.flatMap(({ devices }) => {
    const at = devices.indexOf(name);
    return at < 0 ? [] : devices.slice(at + 1);
  });
  return [...new Set(found)];
}

type Point = DiskStats & { readonly offsetMs: number };

function ratesBetween(from: Point, to: Point): DeviceRates {
  const seconds = Math.max(0.001, (to.offsetMs - from.offsetMs) / 1000);
  // Counters of a 32-bit kernel wrap, and a device may have been taken away and come again.
  const grown = (
    key: 'reads' | 'writes' | 'readBytes' | 'writtenBytes' | 'readMs' | 'writeMs' | 'busyMs' | 'weightedMs',
  ) => Math.max(0, to[key] - from[key]);
  const [reads, writes] = [grown('reads'), grown('writes')];
  const others =
    Math.max(0, (to.discards ?? 0) - (from.discards ?? 0)) + Math.max(0, (to.flushes ?? 0) - (from.flushes ?? 0));
  const mean = (ms: number, count: number) => (count === 0 ? null : ms / count);
  return {
    seconds,
    readsPerSecond: reads / seconds,
    writesPerSecond: writes / seconds,
    readBytesPerSecond: grown('readBytes') / seconds,
    writtenBytesPerSecond: grown('writtenBytes') / seconds,
    readAwaitMs: mean(grown('readMs'), reads),
    writeAwaitMs: mean(grown('writeMs'), writes),
    awaitMs: mean(grown('readMs') + grown('writeMs'), reads + writes),
    utilPercent: Math.min(100, (grown('busyMs') / (seconds * 1000)) * 100),
    queueLength: grown('weightedMs') / (seconds * 1000),
    completed: reads + writes + others,
  };
}
