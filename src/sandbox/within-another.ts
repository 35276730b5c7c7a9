import type { Host } from '../host/port.ts';
import { withParents } from './pid-target.ts';
import type { Sandbox } from './types.ts';

/**
 * Whether a sandbox lives in a container of another one: on a node that is a container itself (kind, k3d), or in a container
 * that pretends. For any process may call itself a shim and stand in a directory that is named like a bundle, in a container
 * that is one of its own; and whoever asks for a pod must not be kept from it by the pod.
 */
export function isWithinAnother(sandbox: Sandbox, sandboxes: readonly Sandbox[], host: Pick<Host, 'read'>): boolean {
  const others = new Set(sandboxes.flatMap(other => (other === sandbox ? [] : other.shims.map(({ pid }) => pid))));
  return sandbox.shims.some(({ pid }) =>
    withParents(pid, host)
      .slice(1)
      .some(parent => others.has(parent)),
  );
}
