import { parseCgroups } from '../formats/proc/cgroup.ts';
import { parseMountinfo } from '../formats/proc/mountinfo.ts';
import { podUidOfCgroup } from '../formats/runtime/pod-uid.ts';
import type { FileResult } from '../host/port.ts';
import { type Hierarchy, hierarchiesIn, placeIn } from './cgroup-files.ts';
import type { Capture } from './collector.ts';
import { deadlineOf, namesIn } from './evidence-of.ts';

/** A cgroup and the hierarchies in which it is looked at. */
export interface CgroupPlace {
  /** Relative to the hierarchy: '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod….slice'. */
  readonly path: string;
  readonly hierarchies: readonly Hierarchy[];
}

export interface Cgroups {
  /** Pods, containers outside of pods, the node's slices, and the services that write: those who share the disk. */
  readonly sharers: readonly CgroupPlace[];
  /** How many there were beyond the cap. */
  readonly leftOut: number;
  /** Container id of the target -> its places; one per hierarchy when v1 has put it in different ones. */
  readonly own: ReadonlyMap<string, readonly CgroupPlace[]>;
}

/** 300 pods and the rest of a node: 2,000 files in the first and in the last sample. */
const MAX_SHARERS = 400;
const MAX_LEVELS = 6;
const NOTE = 'cgroups';

/** `<id>`, `docker-<id>.scope`, `cri-containerd-<id>.scope`, `crio-<id>.scope`. */
const CONTAINER = /^(?:[a-z-]+-)?[0-9a-f]{64}(?:\.scope)?$/;
/** Directories between the root and the pods or containers: of the kubelet, and containerd's and docker's own parents. */
const BETWEEN = /^(?:kube|burstable$|besteffort$|docker$|system\.slice$|machine\.slice$)/;
/** Services whose writes compete with the pods': image pulls are containerd's. */
const WRITER = /^(?:containerd|docker|kubelet|k3s|rke2|k0s|snap\.microk8s|crio|systemd-journald)[^/]*\.service$/;

/** Finds them once per grab: the sweep looks at everything, the samples come back to the same ones. */
export function cgroupsOf(capture: Capture): Promise<Cgroups> {
  const known = capture.notes.get(NOTE);
  if (known instanceof Promise) return known as Promise<Cgroups>;
  const found = findCgroups(capture);
  capture.notes.set(NOTE, found);
  return found;
}

async function findCgroups(capture: Capture): Promise<Cgroups> {
  const containers = capture.target.kind === 'sandbox' ? capture.target.sandbox.containers : [];
  const [mountinfo, ...inits] = await capture.host.readRisky(
    [
      { path: '/proc/self/mountinfo', maxBytes: 16 << 20 },
      ...containers.flatMap(({ initPid }) => (initPid === null ? [] : [{ path: `/proc/${initPid}/cgroup` }])),
    ],
    deadlineOf(capture),
  );
  const hierarchies = hierarchiesIn(parseMountinfo(mountinfo?.body.toString('utf8') ?? ''));
  const ids = containers.filter(({ initPid }) => initPid !== null).map(({ id }) => id);
  const own = new Map(ids.map((id, index) => [id, placesOf(hierarchies, inits[index])]));
  const found = await walk(capture, hierarchies);
  for (const { id } of containers) {
    // The init is gone, its cgroup may still be there: found by its name.
    const byName = found.filter(path => path.includes(id)).map(path => ({ path, hierarchies }));
    if ((own.get(id) ?? []).length === 0 && byName.length > 0) own.set(id, byName);
  }
  const taken = new Set([...own.values()].flat().map(({ path }) => path));
  const others = found.filter(path => !taken.has(path));
  return {
    sharers: others.slice(0, MAX_SHARERS).map(path => ({ path, hierarchies })),
    leftOut: Math.max(0, others.length - MAX_SHARERS),
    own,
  };
}

function placesOf(hierarchies: readonly Hierarchy[], file: FileResult | undefined): readonly CgroupPlace[] {
  const memberships = parseCgroups(file?.body.toString('utf8') ?? '');
  const byPath = new Map<string, Hierarchy[]>();
  for (const hierarchy of hierarchies) {
    const path = placeIn(hierarchy, memberships);
    if (path !== null) byPath.set(path, [...(byPath.get(path) ?? []), hierarchy]);
  }
  return [...byPath].map(([path, within]) => ({ path, hierarchies: within }));
}

/** Level by level, each level one request. v1 keeps the same tree in every hierarchy: memory's stands for all. */
async function walk(capture: Capture, hierarchies: readonly Hierarchy[]): Promise<readonly string[]> {
  const tree = hierarchies.find(({ controllers }) => controllers.includes('memory')) ?? hierarchies.at(-1);
  if (tree === undefined) return [];
  const namespaces = new Set(capture.inventory.sandboxes.map(({ namespace }) => namespace));
  const targetUid = capture.target.kind === 'sandbox' ? (capture.target.sandbox.pod?.uid ?? null) : null;
  // The root first: on v1 it is charged with all buffered writes.
  const found: string[] = ['/'];
  let level = [''];
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const listings = await capture.host.readRisky(
      level.map(path => ({ path: `${tree.mountPoint}${path}`, what: 'dir' }) as const),
      deadlineOf(capture),
    );
    const next: string[] = [];
    for (const [index, listing] of listings.entries()) {
      for (const name of directoriesIn(listing)) {
        const path = `${level[index]}/${name}`;
        const uid = podUidOfCgroup(`/${name}`);
        if (depth === 0 || uid !== null || CONTAINER.test(name) || WRITER.test(name)) found.push(path);
        // Into the target's pod, not into the others'. Any directory of the root may be the kubelet's --cgroup-root.
        const between = uid === null && (depth === 0 || BETWEEN.test(name) || namespaces.has(name));
        if (between || (uid !== null && uid === targetUid)) next.push(path);
      }
    }
    level = next;
  }
  return found;
}

function directoriesIn(listing: FileResult): readonly string[] {
  return namesIn(listing).flatMap(name => (name.endsWith('/') ? [name.slice(0, -1)] : []));
}
