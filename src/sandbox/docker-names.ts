import type { Sandbox } from './types.ts';

/**
 * Whether docker knows a container of this sandbox by that name. A pod's containers are called
 * `k8s_<container>_<pod>_<namespace>_<uid>_<attempt>`, the pause container with `POD` (dockershim/naming.go), and are known
 * here by their names in the pod, so the name is taken apart.
 */
export function isDockerName(word: string, { runtime, pod, containers }: Sandbox): boolean {
  if (runtime !== 'docker') return false;
  if (pod === null) return containers.some(({ name }) => name === word);
  const [k8s, container, name, namespace, uid] = word.split('_');
  if (k8s !== 'k8s' || name !== pod.name || namespace !== pod.namespace || uid !== pod.uid) return false;
  return containers.some(other => (other.kind === 'sandbox' ? container === 'POD' : container === other.name));
}
