import { type Cgroups, v1Path, v2Path } from '../formats/proc/cgroup.ts';
import type { Mount } from '../formats/proc/mountinfo.ts';
import type { FileRequest } from '../host/port.ts';

/** One mounted cgroup hierarchy: the unified one (v2), or one of v1's with the controllers that stallcap reads. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Empty for v2, where every controller that is switched on has its files in the one directory. */
  readonly controllers: readonly string[];
  readonly mountPoint: string;
}

/** `rates` changes while a node works and is read in every sample; `all` adds limits and states. */
export type Depth = 'rates' | 'all';

type Table = Readonly<Record<string, Readonly<Record<Depth, readonly string[]>>>>;

/** Documentation/admin-guide/cgroup-v2.rst. Which of them exist depends on kernel and controllers. */
const V2: Table[string] = {
  rates: [
    'io.stat',
    'io.pressure',
    'memory.current',
    'memory.stat',
    'memory.events',
    'cpu.stat',
    'pids.current',
    'cgroup.events',
  ],
  all: [
    'cgroup.freeze',
    'io.max',
    'memory.pressure',
    'memory.high',
    'memory.max',
    'cpu.pressure',
    'cpu.max',
    'pids.max',
    'pids.events',
  ],
};

/** Documentation/admin-guide/cgroup-v1/. blkio counts no buffered writes: they belong to the flusher's cgroup, the root. */
const V1: Table = {
  blkio: {
    rates: ['blkio.throttle.io_service_bytes_recursive', 'blkio.throttle.io_serviced_recursive'],
    all: ['read_bps', 'write_bps', 'read_iops', 'write_iops'].map(limit => `blkio.throttle.${limit}_device`),
  },
  memory: {
    rates: ['memory.usage_in_bytes', 'memory.stat', 'memory.failcnt'],
    all: ['memory.limit_in_bytes', 'memory.oom_control'],
  },
  cpu: { rates: ['cpu.stat'], all: ['cpu.cfs_quota_us', 'cpu.cfs_period_us'] },
  cpuacct: { rates: ['cpuacct.usage'], all: [] },
  pids: { rates: ['pids.current'], all: ['pids.max', 'pids.events'] },
  freezer: { rates: ['freezer.state'], all: ['freezer.self_freezing', 'freezer.parent_freezing'] },
};

/** The hierarchies that are mounted, each once. A hybrid node has v1's and an (empty) unified one beside them. */
export function hierarchiesIn(mounts: readonly Mount[]): readonly Hierarchy[] {
  const byDevice = new Map<string, Hierarchy>();
  for (const { type, device, mountPoint, superOptions } of mounts) {
    if (byDevice.has(device)) continue;
    const controllers = type === 'cgroup' ? superOptions.filter(option => option in V1) : [];
    if (type === 'cgroup2') byDevice.set(device, { version: 2, controllers, mountPoint });
    else if (controllers.length > 0) byDevice.set(device, { version: 1, controllers, mountPoint });
  }
  return [...byDevice.values()];
}

/** The files of one cgroup in one hierarchy. `path` is relative to the hierarchy, as /proc/<pid>/cgroup gives it. */
export function filesOf(hierarchy: Hierarchy, path: string, depth: Depth): readonly FileRequest[] {
  const tables = hierarchy.version === 2 ? [V2] : hierarchy.controllers.map(controller => V1[controller]);
  const names = tables.flatMap(table => [...(table?.rates ?? []), ...(depth === 'all' ? (table?.all ?? []) : [])]);
  const directory = `${hierarchy.mountPoint}${path === '/' ? '' : path}`;
  return names.map(name => ({ path: `${directory}/${name}` }));
}

/**
 * Where a process is in one hierarchy, from its /proc/<pid>/cgroup. Null when it is in none that can be reached: in the
 * root of it, or outside of our cgroup namespace (`/../…`).
 */
export function placeIn(hierarchy: Hierarchy, cgroups: Cgroups): string | null {
  const [controller] = hierarchy.controllers;
  const path = controller === undefined ? v2Path(cgroups) : v1Path(cgroups, controller);
  return path === null || path === '/' || path.startsWith('/..') ? null : path;
}
