import { parseContainerLogLink } from '../formats/runtime/container-log-link.ts';
import { parsePodLogDirectory } from '../formats/runtime/pod-log-directory.ts';
import { isPodUid } from '../formats/runtime/pod-uid.ts';
import type { Host } from '../host/port.ts';
import { bare, PREFIX_LENGTH } from './matches.ts';
import { type Gap, namesOf, type ReadFiles, readsWithin } from './reads.ts';
import type { Inventory, Pod, Remnant, Sandbox } from './types.ts';

/** Where a pod leaves traces. */
export interface RemnantPlaces {
  /** kubelet's: `<namespace>_<pod>_<uid>` each. */
  readonly podLogs: readonly string[];
  /** kubelet's: links `<pod>_<namespace>_<container>-<container id>.log`. */
  readonly containerLogs: readonly string[];
  /** kubelet's: `<uid>` each. */
  readonly kubeletPods: readonly string[];
  /** Roots of containerds that left no shim and no process to tell of them. */
  readonly roots: readonly string[];
}

/** Of kubelet itself, microk8s, k0s; roots of containerd, k3s, rke2, k0s, microk8s. */
export const REMNANT_PLACES: RemnantPlaces = {
  podLogs: ['/var/log/pods'],
  containerLogs: ['/var/log/containers'],
  kubeletPods: ['/var/lib/kubelet/pods', '/var/snap/microk8s/common/var/lib/kubelet/pods', '/var/lib/k0s/kubelet/pods'],
  roots: [
    '/var/lib/containerd',
    '/var/lib/rancher/k3s/agent/containerd',
    '/var/lib/rancher/rke2/agent/containerd',
    '/var/lib/k0s/containerd',
    '/var/snap/microk8s/common/var/lib/containerd',
  ],
};

/** These lie on the disk that may be the stalled one. */
const ITEM_MS = 400;
const WITHIN_MS = 2000;

/** What is on disk, by name alone; nothing of it is opened. */
interface Traces {
  readonly pods: readonly (Pod & { readonly uid: string; readonly path: string })[];
  /** Container id to its link and pod. */
  readonly containers: ReadonlyMap<string, { readonly path: string; readonly pod: string; readonly namespace: string }>;
  readonly kubelet: ReadonlyMap<string, string>;
  /** Ids in CRI stores and docker's data root, with their directories. */
  readonly stored: readonly { readonly id: string; readonly path: string }[];
}

/** One remnant for each pod or id that `asked` may mean, and what could not be looked at. */
export async function findRemnants(
  asked: string,
  inventory: Inventory,
  host: Host,
  { places, deadlineMs }: { readonly places: RemnantPlaces; readonly deadlineMs: number },
): Promise<{ readonly remnants: readonly Remnant[]; readonly gaps: readonly Gap[] }> {
  const reads = readsWithin(host, Math.min(deadlineMs, WITHIN_MS));
  const stores = storesOf(inventory, places);
  const directories = [...places.podLogs, ...places.containerLogs, ...places.kubeletPods, ...stores];
  const listed = await reads.read(
    directories.map(path => ({ path, what: 'dir' })),
    { itemMs: ITEM_MS },
  );
  return { remnants: remnantsIn(tracesIn(listed, places, stores), bare(asked)), gaps: reads.gaps };
}

function storesOf({ sandboxes, daemons }: Inventory, { roots }: RemnantPlaces): readonly string[] {
  const ofContainerds = [
    ...sandboxes.flatMap(({ shims }) => shims.map(({ root }) => root)),
    ...daemons.flatMap(({ kind, root }) => (kind === 'containerd' ? [root] : [])),
    ...roots,
  ].filter(root => root !== null);
  const ofDockers = daemons.flatMap(({ kind, root }) => (kind === 'dockerd' && root !== null ? [root] : []));
  return [
    ...new Set([
      ...ofContainerds.flatMap(root =>
        ['sandboxes', 'containers'].map(kind => `${root}/io.containerd.grpc.v1.cri/${kind}`),
      ),
      ...ofDockers.map(root => `${root}/containers`),
    ]),
  ];
}

function tracesIn(listed: ReadFiles, places: RemnantPlaces, stores: readonly string[]): Traces {
  const entries = (directories: readonly string[]) =>
    directories.flatMap(directory => namesOf(listed, directory).map(name => ({ name, path: `${directory}/${name}` })));
  const links = entries(places.containerLogs).flatMap(({ name, path }) => {
    const link = parseContainerLogLink(name);
    return link === null ? [] : [[link.containerId, { path, pod: link.pod, namespace: link.namespace }] as const];
  });
  return {
    pods: entries(places.podLogs).flatMap(({ name, path }) => {
      const pod = parsePodLogDirectory(name);
      return pod === null ? [] : [{ ...pod, path }];
    }),
    containers: new Map(links),
    kubelet: new Map(
      entries(places.kubeletPods)
        .filter(({ name }) => isPodUid(name))
        .map(({ name, path }) => [name, path]),
    ),
    stored: entries(stores).map(({ name, path }) => ({ id: name, path })),
  };
}

function remnantsIn(traces: Traces, word: string): readonly Remnant[] {
  const isMeant = ({ namespace, name, uid }: Pod) => word === name || word === `${namespace}/${name}` || word === uid;
  const named = Map.groupBy(traces.pods.filter(isMeant), ({ namespace, name }) => `${namespace}/${name}`);
  const ofPods = [...named.values()].map(logs => ofPod(logs, traces));
  if (ofPods.length > 0) return ofPods;
  const kubelet = traces.kubelet.get(word);
  if (kubelet !== undefined) {
    return [{ what: `pod ${word}, of which only kubelet's directory is left`, pod: null, ids: [], paths: [kubelet] }];
  }
  return word.length < PREFIX_LENGTH ? [] : ofIds(traces, word);
}

/** A pod of the same name that was made anew has another uid: one remnant for both, with all that is left of them. */
function ofPod(logs: Traces['pods'], traces: Traces): Remnant {
  const [first] = logs;
  const { name = '', namespace = '' } = first ?? {};
  const links = [...traces.containers].filter(([, link]) => link.pod === name && link.namespace === namespace);
  const ids = links.map(([id]) => id);
  const stored = traces.stored.filter(({ id }) => ids.includes(id));
  const kubelet = logs.flatMap(({ uid }) => traces.kubelet.get(uid) ?? []);
  return {
    what: `pod ${namespace}/${name}, which has no shim: its logs${kubelet.length > 0 ? " and kubelet's directory are" : ' are'} left`,
    pod: { name, namespace, uid: logs.length === 1 ? (first?.uid ?? null) : null },
    ids,
    paths: [
      ...logs.map(({ path }) => path),
      ...kubelet,
      ...links.map(([, { path }]) => path),
      ...stored.map(({ path }) => path),
    ],
  };
}

function ofIds({ stored, containers, pods }: Traces, word: string): readonly Remnant[] {
  const ids = new Set([...stored.map(({ id }) => id), ...containers.keys()].filter(id => id.startsWith(word)));
  return [...ids].map(id => {
    const link = containers.get(id);
    const log = pods.find(({ name, namespace }) => name === link?.pod && namespace === link.namespace);
    const pod = link === undefined ? null : { name: link.pod, namespace: link.namespace, uid: log?.uid ?? null };
    const paths = [
      ...stored.filter(other => other.id === id),
      ...(link === undefined ? [] : [link]),
      ...(log === undefined ? [] : [log]),
    ];
    return {
      what: `${id}, which has no shim: its files are left`,
      pod,
      ids: [id],
      paths: paths.map(({ path }) => path),
    };
  });
}

/** A sandbox whose shim is gone, while its bundles are still there. */
export function remnantOf({ id, pod, containers }: Sandbox): Remnant {
  return {
    what: `sandbox ${id}, which has no shim: its bundle directories are left`,
    pod,
    ids: [...new Set([id, ...containers.map(container => container.id)])],
    paths: containers.flatMap(({ bundle, runcState }) => [bundle, runcState]),
  };
}
