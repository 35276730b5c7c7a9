/**
 * Where a task's bundle lies: `<state>/io.containerd.runtime.v2.task/<namespace>/<id>` (containerd runtime/v2/bundle.go),
 * `<state>/io.containerd.runtime.v1.linux/<namespace>/<id>` (runtime/v1/linux). A shim's working directory is the bundle
 * that it was started for.
 */
export interface BundlePath {
  readonly state: string;
  readonly generation: 'v2' | 'v1';
  readonly namespace: string;
  readonly id: string;
  /** As the kernel names it, without its ` (deleted)`. */
  readonly dir: string;
  /** The directory is gone, or renamed to `.<id>` to be removed (atomicDelete in bundle.go). */
  readonly deleted: boolean;
}

/** Name of the directory that holds the namespaces, by generation. */
export const TASK_DIRECTORY = { v2: 'io.containerd.runtime.v2.task', v1: 'io.containerd.runtime.v1.linux' } as const;

const BUNDLE = /^(.*)\/io\.containerd\.runtime\.(v2\.task|v1\.linux)\/([^/]+)\/(\.?)([^/]+)$/s;
const DELETED = ' (deleted)';

/** From readlink of /proc/<shim>/cwd; null when that is no bundle. */
export function parseBundlePath(link: string): BundlePath | null {
  const unlinked = link.endsWith(DELETED);
  const dir = unlinked ? link.slice(0, -DELETED.length) : link;
  const match = BUNDLE.exec(dir);
  if (match === null) return null;
  const [, state = '', runtime, namespace = '', dot, id = ''] = match;
  return {
    state: state === '' ? '/' : state,
    generation: runtime === 'v2.task' ? 'v2' : 'v1',
    namespace,
    id,
    dir,
    // No id begins with a dot: containerd's identifiers.Validate.
    deleted: unlinked || dot === '.',
  };
}
