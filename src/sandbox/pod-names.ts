import { parsePodLogDirectory } from '../formats/runtime/pod-log-directory.ts';
import { namesOf, type Reads } from './reads.ts';
import type { Pod, Sandbox } from './types.ts';

/** kubelet's directory of pod logs, wherever its root is. */
const POD_LOGS = '/var/log/pods';

/** On the disk that may be the stalled one. */
const WITHIN_MS = 400;

/**
 * Names the pods of which only the uid is known, through /var/log/pods, which is listed only if there are such.
 * `uids`: by path of the bundle.
 */
export async function nameByUid(
  sandboxes: readonly Sandbox[],
  uids: ReadonlyMap<string, string | null>,
  reads: Reads,
): Promise<readonly Sandbox[]> {
  const uidOf = ({ containers }: Sandbox) =>
    containers.map(({ bundle }) => uids.get(bundle) ?? null).find(uid => uid !== null) ?? null;
  if (!sandboxes.some(sandbox => sandbox.pod === null && uidOf(sandbox) !== null)) return sandboxes;
  const listed = await reads.read([{ path: POD_LOGS, what: 'dir' }], { withinMs: WITHIN_MS });
  const pods = new Map<string, Pod>();
  for (const name of namesOf(listed, POD_LOGS)) {
    const pod = parsePodLogDirectory(name);
    if (pod !== null) pods.set(pod.uid, pod);
  }
  return sandboxes.map(sandbox => ({ ...sandbox, pod: sandbox.pod ?? pods.get(uidOf(sandbox) ?? '') ?? null }));
}
