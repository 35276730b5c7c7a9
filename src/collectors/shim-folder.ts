import type { Shim } from '../sandbox/types.ts';

/**
 * Where a shim's files lie in the bundle. A pod of containerd has one shim: `shim/…`. A pod of docker has one per
 * container, pause included: each gets a folder named by its pid, `shim/<pid>/…`, and nothing lies in `shim/` itself.
 *
 * @returns without a slash at the end
 */
export function shimFolder(shims: readonly Shim[], shim: Shim): string {
  return shims.length === 1 ? 'shim' : `shim/${shim.pid}`;
}
