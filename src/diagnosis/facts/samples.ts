import { type BdiStats, diskOfBdi, parseBdiStats } from '../../formats/bdi-stats.ts';
import { type CgroupIo, parseCgroupIo } from '../../formats/proc/cgroup-io.ts';
import { type DiskStats, parseDiskstats } from '../../formats/proc/diskstats.ts';
import { parseMeminfo } from '../../formats/proc/meminfo.ts';
import { type Pressure, parsePressure } from '../../formats/proc/pressure.ts';
import { parseObject, textsAt } from '../../formats/runtime/json.ts';
import type { LineReader } from './lines.ts';

export const SAMPLES = 'node/samples.jsonl';

/** What is kept of one cgroup at one sample. Each null where the file was not read or does not exist. */
export interface CgroupSample {
  readonly offsetMs: number;
  readonly line: number;
  readonly io: readonly CgroupIo[] | null;
  /** memory.stat: v2 file_dirty, file_writeback; v1 total_dirty (dirty), total_writeback (writeback). */
  readonly dirtyBytes: number | null;
  readonly writebackBytes: number | null;
  readonly pressure: Readonly<Record<'io' | 'memory' | 'cpu', Pressure | null>>;
  /** Throttled time, ms, and periods: cpu.stat. */
  readonly throttledMs: number | null;
  readonly throttledPeriods: number | null;
  readonly highEvents: number | null;
}

/** A sample of the node, reduced. */
export interface NodeSample {
  readonly offsetMs: number;
  readonly line: number;
  readonly disks: readonly DiskStats[];
  /** The row of diskstats of each, as it stood. */
  readonly rows: ReadonlyMap<string, string>;
  readonly pressure: Readonly<Record<'io' | 'memory' | 'cpu', Pressure | null>>;
  /** Of all disks: /proc/meminfo. */
  readonly dirtyBytes: number | null;
  readonly writebackBytes: number | null;
  /** Of one disk, by its number ('254:0'), where the node had debugfs and something was dirty. */
  readonly dirtyOf: ReadonlyMap<string, BdiStats>;
}

export interface Samples {
  readonly node: readonly NodeSample[];
  /** First and last sample of each cgroup, by its path below the mount point of a hierarchy: `/kubepods/…`. */
  readonly cgroups: ReadonlyMap<string, { readonly first: CgroupSample; readonly last: CgroupSample }>;
  /** Of the hierarchy that has the I/O files; null where no cgroup has any. */
  readonly cgroupVersion: 1 | 2 | null;
}

const CGROUP = '/sys/fs/cgroup';
/** v1 has one directory per controller, also two that are joined (`cpu,cpuacct`); with v2 the path starts at once. */
const V1_CONTROLLER = /^\/(?:blkio|memory|cpu|cpuacct|cpu,cpuacct|cpuacct,cpu|pids|freezer|unified)(?=\/|$)/;

/** Path of a cgroup, hierarchy left out, and name of the file. Null for what is no file of a cgroup. */
export function placeOfCgroupFile(path: string): { readonly cgroup: string; readonly name: string } | null {
  if (!path.startsWith(`${CGROUP}/`)) return null;
  const inside = path.slice(CGROUP.length).replace(V1_CONTROLLER, '');
  const slash = inside.lastIndexOf('/');
  return { cgroup: slash <= 0 ? '/' : inside.slice(0, slash), name: inside.slice(slash + 1) };
}

/** Rows of diskstats that are kept: a thousand samples of 200 disks. What a bundle has beyond is left, or it would fill the memory. */
const MOST_DISK_ROWS = 200_000;
/** A grab takes a thousand at most. */
const MOST_SAMPLES = 5000;

/** Reads node/samples.jsonl line by line, so that a thousand samples of 400 cgroups leave a few numbers each. */
export function sampleReader(): { readonly read: LineReader; samples(): Samples | null } {
  const node: NodeSample[] = [];
  const cgroups = new Map<string, { first: CgroupSample; last: CgroupSample }>();
  let cgroupVersion: 1 | 2 | null = null;
  let rowsLeft = MOST_DISK_ROWS;
  return {
    read(text, line) {
      const sample = rowsLeft <= 0 || node.length >= MOST_SAMPLES ? null : parseObject(text);
      if (sample === null) return;
      const offset = sample['offsetMs'];
      const offsetMs = typeof offset === 'number' ? offset : 0;
      const files = textsAt(sample, 'files');
      const reduced = nodeSample(files, offsetMs, line);
      rowsLeft -= reduced.rows.size;
      node.push(reduced);
      for (const [cgroup, own] of byCgroup(files)) {
        if (own.has('io.stat')) cgroupVersion = 2;
        else if (own.has(V1_IO)) cgroupVersion ??= 1;
        const read = cgroupSample(own, offsetMs, line);
        const known = cgroups.get(cgroup);
        cgroups.set(cgroup, { first: known?.first ?? read, last: read });
      }
    },
    samples: () => (node.length === 0 ? null : { node, cgroups, cgroupVersion }),
  };
}

/** The rows of diskstats by the name of the disk. */
export function rowsByName(diskstats: string): ReadonlyMap<string, string> {
  const rows = diskstats.split('\n').flatMap(row => {
    const name = row.trim().split(/\s+/, 3)[2];
    return name === undefined ? [] : [[name, row.trim()] as const];
  });
  return new Map(rows);
}

function nodeSample(files: ReadonlyMap<string, string>, offsetMs: number, line: number): NodeSample {
  const diskstats = files.get('/proc/diskstats') ?? '';
  const meminfo = parseMeminfo(files.get('/proc/meminfo') ?? '');
  return {
    ...{ offsetMs, line, disks: parseDiskstats(diskstats), rows: rowsByName(diskstats) },
    pressure: {
      io: pressureIn(files.get('/proc/pressure/io')),
      memory: pressureIn(files.get('/proc/pressure/memory')),
      cpu: pressureIn(files.get('/proc/pressure/cpu')),
    },
    dirtyBytes: meminfo.get('Dirty') ?? null,
    writebackBytes: meminfo.get('Writeback') ?? null,
    dirtyOf: new Map([...files].flatMap(([path, text]) => bdiStats(path, text))),
  };
}

function bdiStats(path: string, text: string): readonly (readonly [string, BdiStats])[] {
  const disk = diskOfBdi(path);
  const stats = disk === null ? null : parseBdiStats(text);
  return disk === null || stats === null ? [] : [[disk, stats]];
}

function byCgroup(files: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const found = new Map<string, Map<string, string>>();
  for (const [path, text] of files) {
    const place = placeOfCgroupFile(path);
    if (place === null) continue;
    const own = found.get(place.cgroup) ?? new Map<string, string>();
    found.set(place.cgroup, own);
    // cpu.stat is there twice on v1: the one with throttling wins.
    if (!own.has(place.name) || text.includes('throttled')) own.set(place.name, text);
  }
  return found;
}

const V1_IO = 'blkio.throttle.io_service_bytes_recursive';

function cgroupSample(own: ReadonlyMap<string, string>, offsetMs: number, line: number): CgroupSample {
  const io = own.get('io.stat') ?? own.get(V1_IO);
  const memory = parseKeyed(own.get('memory.stat') ?? '');
  const cpu = parseKeyed(own.get('cpu.stat') ?? '');
  const ns = cpu.get('throttled_time');
  const us = cpu.get('throttled_usec');
  return {
    ...{ offsetMs, line, io: io === undefined ? null : parseCgroupIo(io) },
    dirtyBytes: memory.get('file_dirty') ?? memory.get('total_dirty') ?? memory.get('dirty') ?? null,
    writebackBytes: memory.get('file_writeback') ?? memory.get('total_writeback') ?? memory.get('writeback') ?? null,
    pressure: {
      io: pressureIn(own.get('io.pressure')),
      memory: pressureIn(own.get('memory.pressure')),
      cpu: pressureIn(own.get('cpu.pressure')),
    },
    throttledMs: us !== undefined ? us / 1000 : ns !== undefined ? ns / 1e6 : null,
    throttledPeriods: cpu.get('nr_throttled') ?? null,
    highEvents: parseKeyed(own.get('memory.events') ?? '').get('high') ?? null,
  };
}

function pressureIn(text: string | undefined): Pressure | null {
  const pressure = text === undefined ? null : parsePressure(text);
  return pressure?.some === null && pressure.full === null ? null : pressure;
}

/** Flat keyed files of cgroups: `file_dirty 4096`, one per line. */
export function parseKeyed(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, key, digits] = /^(\S+) (\d+)$/.exec(line) ?? [];
    if (key !== undefined) values.set(key, Number(digits));
  }
  return values;
}
