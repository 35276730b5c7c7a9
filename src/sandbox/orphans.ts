import { parseStatus } from '../formats/proc/status.ts';
import { podUidOfCgroup } from '../formats/runtime/pod-uid.ts';
import type { Host } from '../host/port.ts';
import { namesOf, type Reads, textOf } from './reads.ts';
import type { Container, Sandbox, Shim } from './types.ts';

export interface WithOrphans {
  readonly sandboxes: readonly Sandbox[];
  /** Pod uid by path of the bundle, from the cgroups of the shims' children. */
  readonly podUids: ReadonlyMap<string, string>;
}

/**
 * Completes the sandboxes of shims that lost their bundle: a restarted containerd gave them up, and no file names their
 * containers any more. Their children's cgroups do (the last component is the container's id), and the stdio fifos that
 * they hold open: `<state>/io.containerd.grpc.v1.cri/containers/<id>/io/…`.
 */
export async function addOrphans(host: Host, sandboxes: readonly Sandbox[], reads: Reads): Promise<WithOrphans> {
  const shims = sandboxes.flatMap(sandbox => sandbox.shims).filter(({ bundleDeleted }) => bundleDeleted);
  if (shims.length === 0) return { sandboxes, podUids: new Map() };
  const children = childrenOf(host, new Set(shims.map(({ pid }) => pid)));
  const first = await reads.read([
    ...shims.map(({ pid }) => ({ path: `/proc/${pid}/fd`, what: 'dir' as const })),
    ...children.map(({ pid }) => ({ path: `/proc/${pid}/cgroup` })),
  ]);
  const fds = shims.flatMap(({ pid }) =>
    namesOf(first, `/proc/${pid}/fd`).map(fd => ({ pid, path: `/proc/${pid}/fd/${fd}` })),
  );
  const links = await reads.read(fds.map(({ path }) => ({ path, what: 'link' })));

  const podUids = new Map<string, string>();
  const found = new Map<Shim, ReadonlyMap<string, Container>>();
  for (const shim of shims) {
    const own = new Map<string, Container>();
    for (const { path } of fds.filter(({ pid }) => pid === shim.pid)) {
      const id = FIFO.exec(textOf(links, path) ?? '')?.[1];
      if (id !== undefined) own.set(id, containerOf(shim, id, null, 'open files of the shim'));
    }
    for (const { pid } of children.filter(({ ppid }) => ppid === shim.pid)) {
      const cgroup = textOf(first, `/proc/${pid}/cgroup`) ?? '';
      const id = CGROUP.exec(cgroup)?.[1];
      const uid = podUidOfCgroup(cgroup);
      if (id !== undefined) own.set(id, containerOf(shim, id, pid, 'cgroup of a child of the shim'));
      if (uid !== null) podUids.set(shim.bundle, uid);
    }
    found.set(shim, own);
  }
  return { sandboxes: sandboxes.map(sandbox => withFound(sandbox, found)), podUids };
}

const FIFO = /\/io\.containerd\.grpc\.v1\.cri\/containers\/([0-9a-f]{64})\/io\//;
const CGROUP = /(?:[/-]|:)([0-9a-f]{64})(?:\.scope)?$/m;

/** By `PPid` of every process: read once, for all orphans together. */
function childrenOf(
  host: Host,
  parents: ReadonlySet<number>,
): readonly { readonly pid: number; readonly ppid: number }[] {
  return host.pids().flatMap(pid => {
    const { ppid } = parseStatus(host.read(`/proc/${pid}/status`).body.toString('utf8'));
    return ppid !== null && parents.has(ppid) ? [{ pid, ppid }] : [];
  });
}

function containerOf(shim: Shim, id: string, initPid: number | null, how: string): Container {
  const parent = shim.bundle.slice(0, shim.bundle.lastIndexOf('/'));
  return {
    id,
    kind: id === shim.id ? 'sandbox' : 'container',
    name: null,
    bundle: id === shim.id ? shim.bundle : `${parent}/${id}`,
    initPid,
    initStartTicks: null,
    runcState: '',
    shimPid: shim.pid,
    how,
  };
}

function withFound(sandbox: Sandbox, found: ReadonlyMap<Shim, ReadonlyMap<string, Container>>): Sandbox {
  const added = sandbox.shims.flatMap(shim => [...(found.get(shim)?.values() ?? [])]);
  if (added.length === 0) return sandbox;
  const known = sandbox.containers.map(container => {
    const same = added.find(({ id }) => id === container.id);
    return same === undefined
      ? container
      : { ...container, kind: same.kind, initPid: container.initPid ?? same.initPid };
  });
  const more = added
    .filter(({ id }) => !known.some(container => container.id === id))
    .map(container => ({ ...container, runcState: runcStateOf(sandbox, container.id) }));
  return { ...sandbox, containers: [...known, ...more] };
}

/** Beside that of the sandbox's own. */
function runcStateOf({ containers, namespace }: Sandbox, id: string): string {
  const beside = containers[0]?.runcState ?? `/run/containerd/runc/${namespace}/${id}`;
  return `${beside.slice(0, beside.lastIndexOf('/'))}/${id}`;
}
