import type { LinksRead } from './process-links.ts';
import type { RuntimeProcesses } from './runtime-processes.ts';

/** Where a process's paths are to be found by us. */
export interface View {
  /** Its mount namespace: two processes with the same one mean the same files by the same paths. */
  readonly namespace: string;
  /** `''`, or `/proc/<pid>/root` where it has another mount namespace than we (kind, snaps, a pod with hostPID). */
  readonly prefix: string;
}

/**
 * The view of each shim and daemon. All of one namespace share one prefix, so that their files have one path each: that of
 * the oldest daemon in it, which outlives its shims, else of the shim with the lowest pid.
 */
export function viewsOf({ shims, daemons }: RuntimeProcesses, links: LinksRead): ReadonlyMap<number, View> {
  const own = links.ownMountNamespace;
  const prefixes = new Map<string, string>();
  const views = new Map<number, View>();
  for (const { pid } of [...daemons, ...shims]) {
    const namespace = links.of.get(pid)?.mountNamespace ?? null;
    // Unknown is taken for ours: on most nodes it is, and a wrong path is only not found.
    const same = namespace === null || own === null || namespace === own;
    const prefix = same ? '' : (prefixes.get(namespace) ?? `/proc/${pid}/root`);
    if (!same) prefixes.set(namespace, prefix);
    views.set(pid, { namespace: same ? (own ?? '') : namespace, prefix });
  }
  return views;
}
