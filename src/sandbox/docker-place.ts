import type { OciConfig } from '../formats/runtime/oci-config.ts';

/** Where dockerd keeps a container, as the container's own mounts tell. */
export interface DockerPlace {
  /** `/var/lib/docker` */
  readonly dataRoot: string;
  /** Whose hostname, hosts and resolv.conf are mounted: its own, or those of the container whose network it shares, as every container of a pod does with its pause container. */
  readonly filesOf: string;
}

const MOUNTED = ['/etc/resolv.conf', '/etc/hostname', '/etc/hosts'];
const SOURCE = /^(.*)\/containers\/([0-9a-f]{64})\/(?:resolv\.conf|hostname|hosts)$/;

/** Null for a container that is none of docker's. The bundle lies in memory: it answers when docker's disk does not. */
export function dockerPlaceOf({ mounts }: OciConfig): DockerPlace | null {
  for (const destination of MOUNTED) {
    const [, dataRoot, filesOf] = SOURCE.exec(mounts.get(destination) ?? '') ?? [];
    if (dataRoot !== undefined && filesOf !== undefined) return { dataRoot, filesOf };
  }
  return null;
}
