import { parsePodLogDirectory } from './pod-log-directory.ts';

/**
 * What containerd's CRI plugin and its shims write into a container's annotations: pkg/cri/annotations (1.x),
 * internal/cri/annotations (2.x), runtime/v2/runc/manager for the group. Also found in runc's state as labels.
 */
export interface CriAnnotations {
  readonly type: 'sandbox' | 'container' | null;
  readonly sandboxId: string | null;
  readonly containerName: string | null;
  /** Name, namespace: since 1.5; uid: since 1.6. Before, from the log directory, which only the sandbox has. */
  readonly pod: { readonly name: string; readonly namespace: string; readonly uid: string | null } | null;
  readonly podFrom: 'annotation' | 'log directory' | null;
  readonly logDirectory: string | null;
}

const PREFIX = 'io.kubernetes.cri.';

/** All null for a container that no CRI made. */
export function parseCriAnnotations(annotations: ReadonlyMap<string, string>): CriAnnotations {
  const text = (name: string) => annotations.get(PREFIX + name) || null;
  const type = text('container-type');
  const logDirectory = text('sandbox-log-directory');
  const fromLogs = logDirectory === null ? null : parsePodLogDirectory(logDirectory);
  const name = text('sandbox-name');
  const namespace = text('sandbox-namespace');
  const named =
    name !== null && namespace !== null ? { name, namespace, uid: text('sandbox-uid') ?? fromLogs?.uid ?? null } : null;
  return {
    type: type === 'sandbox' || type === 'container' ? type : null,
    sandboxId: text('sandbox-id'),
    containerName: text('container-name'),
    pod: named ?? fromLogs,
    podFrom: named !== null ? 'annotation' : fromLogs !== null ? 'log directory' : null,
    logDirectory,
  };
}
