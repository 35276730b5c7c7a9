/** A pod as its log directory names it. */
export interface PodLogDirectory {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * `/var/log/pods/<namespace>_<name>_<uid>` or its last component: kubelet kuberuntime/helpers.go BuildPodLogsDirectory,
 * since Kubernetes 1.14. Neither namespaces nor names hold an underscore. Null when it is no such name.
 */
export function parsePodLogDirectory(path: string): PodLogDirectory | null {
  const base = path.split('/').findLast(part => part !== '') ?? '';
  const [namespace, name, uid, ...more] = base.split('_');
  if (!namespace || !name || !uid || more.length > 0) return null;
  return { namespace, name, uid };
}
