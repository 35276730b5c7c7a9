import { type ContainerLogLink, parseContainerLogLink } from '../formats/runtime/container-log-link.ts';
import { parsePodLogDirectory } from '../formats/runtime/pod-log-directory.ts';
import { namesOf, type Reads } from './reads.ts';
import type { Container, Pod, Sandbox } from './types.ts';

/** kubelet's directories of logs, wherever its root is. */
const POD_LOGS = '/var/log/pods';
const CONTAINER_LOGS = '/var/log/containers';

/** On the disk that may be the stalled one. */
const WITHIN_MS = 400;

/**
 * Names the pods that no annotation or label names: by their uid (docker whose disk hangs), or by a container id (a shim
 * that lost its bundle), through the names of kubelet's logs. Nothing is listed when there is no such pod.
 * `uids`: by path of the bundle.
 */
export async function nameByLogs(
  sandboxes: readonly Sandbox[],
  uids: ReadonlyMap<string, string | null>,
  reads: Reads,
): Promise<readonly Sandbox[]> {
  const uidOf = ({ containers }: Sandbox) =>
    containers.map(({ bundle }) => uids.get(bundle) ?? null).find(uid => uid !== null) ?? null;
  const isNameless = (sandbox: Sandbox) =>
    sandbox.pod === null && (uidOf(sandbox) !== null || sandbox.shims.some(({ bundleDeleted }) => bundleDeleted));
  if (!sandboxes.some(isNameless)) return sandboxes;

  const listed = await reads.read(
    [POD_LOGS, CONTAINER_LOGS].map(path => ({ path, what: 'dir' })),
    { withinMs: WITHIN_MS },
  );
  const pods = namesOf(listed, POD_LOGS).flatMap(name => parsePodLogDirectory(name) ?? []);
  const links = new Map(
    namesOf(listed, CONTAINER_LOGS)
      .flatMap(name => parseContainerLogLink(name) ?? [])
      .map(link => [link.containerId, link]),
  );
  return sandboxes.map(sandbox => (isNameless(sandbox) ? nameOne(sandbox, uidOf(sandbox), pods, links) : sandbox));
}

function nameOne(
  sandbox: Sandbox,
  uid: string | null,
  pods: readonly (Pod & { readonly uid: string })[],
  links: ReadonlyMap<string, ContainerLogLink>,
): Sandbox {
  const link = sandbox.containers.map(({ id }) => links.get(id)).find(found => found !== undefined);
  const byUid = pods.find(pod => pod.uid === uid);
  const byLink = link === undefined ? null : { name: link.pod, namespace: link.namespace, uid };
  const containers = sandbox.containers.map((container): Container => {
    return { ...container, name: container.name ?? links.get(container.id)?.container ?? null };
  });
  return { ...sandbox, containers, pod: byUid ?? byLink };
}
