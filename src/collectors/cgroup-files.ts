import { type Cgroups, v1Path, v2Path } from '../formats/proc/cgroup.ts';
import type { Mount } from '../formats/proc/mountinfo.ts';
import type { FileRequest } from '../host/port.ts';

/** One mounted hierarchy: the unified one (v2, or hybrid: beside v1), or one of v1's with the controllers that are read. */
export interface Hierarchy {
  readonly version: 1 | 2 | 'hybrid';
  /** Empty for the unified one, where every controller that is switched on has its files in the one directory. */
  readonly controllers: readonly string[];
  readonly mountPoint: string;
}

/**
 * `counters`: what names those who load the node; sampled of all. `state`: what changes as well, sampled of the target.
 * `limits`: what hardly changes, read once.
 */
export type Part = 'counters' | 'state' | 'limits';

type Table = Readonly<Record<string, Readonly<Record<Part, readonly string[]>>>>;

/** Documentation/admin-guide/cgroup-v2.rst. Which of them exist depends on kernel and controllers. */
const V2: Table[string] = {
  counters: ['io.stat', 'io.pressure', 'memory.stat', 'cpu.stat', 'pids.current'],
  state: ['memory.current', 'memory.events', 'memory.pressure', 'cpu.pressure', 'cgroup.events'],
  limits: ['cgroup.freeze', 'io.max', 'memory.high', 'memory.max', 'cpu.max', 'pids.max', 'pids.events'],
};

/** Beside v1, where no controller is bound to it: what needs none. */
const HYBRID: Table[string] = {
  counters: ['io.pressure'],
  state: ['memory.pressure', 'cpu.pressure', 'cgroup.events'],
  limits: [],
};

/** Documentation/admin-guide/cgroup-v1/. blkio counts no buffered writes: they belong to the flusher's cgroup, the root. */
const V1: Table = {
  blkio: {
    counters: ['blkio.throttle.io_service_bytes_recursive'],
    state: ['blkio.throttle.io_serviced_recursive'],
    limits: ['read_bps', 'write_bps', 'read_iops', 'write_iops'].map(limit => `blkio.throttle.${limit}_device`),
  },
  memory: {
    counters: ['memory.stat'],
    state: ['memory.usage_in_bytes', 'memory.failcnt'],
    limits: ['memory.limit_in_bytes'],
  },
  cpu: { counters: [], state: ['cpu.stat'], limits: ['cpu.cfs_quota_us', 'cpu.cfs_period_us'] },
  cpuacct: { counters: ['cpuacct.usage'], state: [], limits: [] },
  pids: { counters: ['pids.current'], state: [], limits: ['pids.max', 'pids.events'] },
  freezer: { counters: [], state: ['freezer.state'], limits: [] },
};

/** The hierarchies that are mounted, each once. A hybrid node has v1's, and the unified one beside them. */
export function hierarchiesIn(mounts: readonly Mount[]): readonly Hierarchy[] {
  const byDevice = new Map<string, Hierarchy>();
  const legacy = mounts.some(
    ({ type, superOptions }) => type === 'cgroup' && superOptions.some(option => option in V1),
  );
  for (const { type, device, mountPoint, superOptions } of mounts) {
    if (byDevice.has(device)) continue;
    const controllers = type === 'cgroup' ? superOptions.filter(option => option in V1) : [];
    if (type === 'cgroup2') byDevice.set(device, { version: legacy ? 'hybrid' : 2, controllers, mountPoint });
    else if (controllers.length > 0) byDevice.set(device, { version: 1, controllers, mountPoint });
  }
  return [...byDevice.values()];
}

/** The files of one cgroup in one hierarchy. `path` is relative to the hierarchy, as /proc/<pid>/cgroup gives it. */
export function filesOf(hierarchy: Hierarchy, path: string, parts: readonly Part[]): readonly FileRequest[] {
  const directory = `${hierarchy.mountPoint}${path === '/' ? '' : path}`;
  return tablesOf(hierarchy)
    .flatMap(table => parts.flatMap(part => table?.[part] ?? []))
    .map(name => ({ path: `${directory}/${name}` }));
}

function tablesOf({ version, controllers }: Hierarchy): readonly (Table[string] | undefined)[] {
  if (version === 2) return [V2];
  return version === 'hybrid' ? [HYBRID] : controllers.map(controller => V1[controller]);
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
