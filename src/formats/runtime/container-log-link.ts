/** A link of kubelet's to a container's log. */
export interface ContainerLogLink {
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly containerId: string;
}

const NAME = /^([^_/]+)_([^_/]+)_([^_/]+)-([0-9a-f]{64})\.log$/;

/**
 * Name of a file in /var/log/containers: `<pod>_<namespace>_<container>-<container id>.log` (kubelet kuberuntime/legacy.go
 * logSymlink). Null when it is no such name.
 */
export function parseContainerLogLink(name: string): ContainerLogLink | null {
  const [, pod, namespace, container, containerId] = NAME.exec(name) ?? [];
  if (!pod || !namespace || !container || !containerId) return null;
  return { pod, namespace, container, containerId };
}
