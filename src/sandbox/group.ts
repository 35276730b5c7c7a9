import { parseBundlePath } from '../formats/runtime/bundle-path.ts';
import type { DockerContainer } from '../formats/runtime/docker-container.ts';
import type { Bundle } from './bundles.ts';
import { isDocker } from './docker-records.ts';
import type { ShimServer } from './shim-servers.ts';
import type { Container, Pod, Sandbox, Shim } from './types.ts';

/** Everything that was read, to be put together. */
export interface Parts {
  readonly shims: readonly ShimServer[];
  /** The shims' own bundles among them. */
  readonly bundles: readonly Bundle[];
  /** dockerd's records by path of the bundle. */
  readonly docker: ReadonlyMap<string, DockerContainer>;
}

/** One container with whose sandbox it is, and how that is known. */
interface Member {
  readonly bundle: Bundle;
  readonly record: DockerContainer | null;
  readonly shim: ShimServer | null;
  readonly sandboxId: string;
  readonly how: string;
}

/**
 * Bundles and shims, put together into sandboxes: by annotation, by docker's labels, by the file `sandbox`, by the shim's
 * socket; else a container is its own sandbox. Pure.
 */
export function groupSandboxes(parts: Parts): readonly Sandbox[] {
  const shims = new Map(parts.shims.map(shim => [shim.view.prefix + shim.path.dir, shim]));
  const sockets = socketsOf(parts, shims);
  const groups = new Map<string, Member[]>();
  for (const bundle of parts.bundles) {
    // Half made, half removed, or unread: without a shim it is no sandbox of its own.
    if (!bundle.told && !shims.has(bundle.path)) continue;
    const member = memberOf(bundle, parts, shims, sockets);
    const { view, state, namespace } = bundle.place;
    // Ids are unique within one containerd only: several on one node are told apart by their state directories.
    const key = [view.namespace, state, namespace, member.sandboxId].join('\0');
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [member]);
    else members.push(member);
  }
  return [...groups.values()].map(sandboxOf).sort(byName);
}

/** Socket of each shim to the shim's own bundle, for containers that only their address ties to a shim. */
function socketsOf({ bundles }: Parts, shims: ReadonlyMap<string, ShimServer>): ReadonlyMap<string, Bundle> {
  const own = bundles.filter(bundle => shims.has(bundle.path) && bundle.socket !== null);
  return new Map(own.map(bundle => [socketKey(bundle), bundle]));
}

function socketKey({ place, socket }: Bundle): string {
  return `${place.view.namespace}\0${socket?.address ?? ''}`;
}

function memberOf(
  bundle: Bundle,
  { docker }: Parts,
  shims: ReadonlyMap<string, ShimServer>,
  sockets: ReadonlyMap<string, Bundle>,
): Member {
  const record = docker.get(bundle.path) ?? null;
  const shim = shims.get(bundle.path) ?? null;
  const named = sandboxNamedBy(bundle, record);
  if (named !== null) return { bundle, record, shim, ...named };
  const serving = shim === null ? sockets.get(socketKey(bundle)) : undefined;
  if (serving === undefined) return { bundle, record, shim, sandboxId: bundle.id, how: 'own bundle' };
  const sandboxId = sandboxNamedBy(serving, docker.get(serving.path) ?? null)?.sandboxId ?? serving.id;
  return { bundle, record, shim, sandboxId, how: 'address' };
}

/** What the container itself says. */
function sandboxNamedBy(bundle: Bundle, record: DockerContainer | null): Pick<Member, 'sandboxId' | 'how'> | null {
  const { cri, sandboxFile, docker, podUid, id } = bundle;
  if (record?.kubernetes) return { sandboxId: record.kubernetes.sandboxId ?? id, how: 'docker labels' };
  if (cri.sandboxId !== null) return { sandboxId: cri.sandboxId, how: 'annotation' };
  if (sandboxFile !== null) return { sandboxId: sandboxFile, how: 'sandbox file' };
  // dockerd's record did not answer. Only a pod's container: plain docker shares files where it shares the network.
  if (docker !== null && record === null && podUid !== null)
    return { sandboxId: docker.filesOf, how: 'files of its pod' };
  return null;
}

function sandboxOf(members: readonly Member[]): Sandbox {
  const shims = members.flatMap(({ bundle, shim }) => (shim === null ? [] : [shimOf(shim, bundle)]));
  const [first] = members;
  const id = first?.sandboxId ?? '';
  const containers = members.map(member => containerOf(member, members, shims)).sort(sandboxFirst);
  const docker = members.some(({ bundle }) => isDocker(bundle));
  return {
    id,
    namespace: first?.bundle.place.namespace ?? '',
    pod: podOf(members),
    runtime: docker ? 'docker' : 'containerd',
    shims: shims.sort((a, b) => a.pid - b.pid),
    containers,
  };
}

/** The sandbox's own word first: up to containerd 1.4 its containers do not know their pod. */
function podOf(members: readonly Member[]): Pod | null {
  const own = members.filter(({ bundle, sandboxId }) => bundle.id === sandboxId);
  for (const { record, bundle } of [...own, ...members]) {
    const pod = record?.kubernetes?.pod ?? bundle.cri.pod;
    if (pod) return { ...pod, uid: pod.uid ?? bundle.podUid };
  }
  return null;
}

function containerOf(
  { bundle, record, how, sandboxId }: Member,
  members: readonly Member[],
  shims: readonly Shim[],
): Container {
  const { id, runc } = bundle;
  const said = record?.kubernetes?.type ?? bundle.cri.type;
  const shim =
    shims.find(own => own.id === id) ??
    shims.find(({ socket }) => socket !== null && socket === bundle.socket?.address) ??
    (shims.length === 1 ? shims[0] : undefined);
  return {
    id,
    kind: said ?? (id === sandboxId && members.length > 1 ? 'sandbox' : 'container'),
    name: nameOf(bundle, record),
    bundle: bundle.path,
    initPid: runc?.initPid ?? bundle.pidFile,
    initStartTicks: runc?.initStartTicks ?? null,
    runcState: bundle.runcDirectory,
    shimPid: shim?.pid ?? null,
    how: how === 'annotation' && bundle.cri.podFrom === 'log directory' ? 'annotation, pod by log directory' : how,
  };
}

function nameOf({ cri }: Bundle, record: DockerContainer | null): string | null {
  if (record === null) return cri.containerName;
  const { kubernetes } = record;
  if (kubernetes === null) return record.name;
  return kubernetes.type === 'sandbox' ? null : kubernetes.containerName;
}

function shimOf(shim: ShimServer, bundle: Bundle): Shim {
  const { pid, startTicks, path, view, argv, flags, exe } = shim;
  return {
    pid,
    startTicks,
    generation: path.generation,
    bundle: view.prefix + path.dir,
    bundleDeleted: path.deleted,
    namespace: path.namespace,
    id: path.id,
    state: view.prefix + path.state,
    root: bundle.root ?? rootOfWorkdir(shim),
    argv,
    exe,
    address: flags?.address ?? null,
    socket: bundle.socket?.address ?? null,
    shimVersion: bundle.socket?.version ?? null,
  };
}

/** v1 has no `work` link; its command line names the directory that the link would lead to. */
function rootOfWorkdir({ flags, view }: ShimServer): string | null {
  const workdir = parseBundlePath(flags?.workdir ?? '');
  return workdir === null ? null : view.prefix + workdir.state;
}

function sandboxFirst(a: Container, b: Container): number {
  if (a.kind !== b.kind) return a.kind === 'sandbox' ? -1 : 1;
  return (a.name ?? a.id).localeCompare(b.name ?? b.id);
}

function byName(a: Sandbox, b: Sandbox): number {
  const key = ({ pod, namespace, id }: Sandbox) => [pod?.namespace ?? '\uffff', pod?.name ?? namespace, id].join('\0');
  return key(a) < key(b) ? -1 : Number(key(a) > key(b));
}
