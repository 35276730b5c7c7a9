import type { Container, RuntimeDaemon, Shim } from '../sandbox/types.ts';
import type { Capture } from './collector.ts';

/** containerd's own defaults (containerd, defaults/defaults_unix.go). */
const CONTAINERD_ROOT = '/var/lib/containerd';
export const CONTAINERD_ADDRESS = '/run/containerd/containerd.sock';
const DOCKER_ROOT = '/var/lib/docker';

export function shimOf(capture: Capture, container: Container): Shim | undefined {
  return capture.shims.find(shim => shim.pid === container.shimPid) ?? capture.shims[0];
}

/**
 * The containerds that matter: those that the target's shims report to, by address, else by state directory; every
 * containerd of the node for a target without a shim, and when none matches.
 */
export function containerdsOf(capture: Capture): readonly RuntimeDaemon[] {
  const all = capture.inventory.daemons.filter(daemon => daemon.kind === 'containerd');
  const own = all.filter(daemon => capture.shims.some(shim => reportsTo(shim, daemon)));
  return own.length > 0 ? own : all;
}

export function dockerdsOf(capture: Capture): readonly RuntimeDaemon[] {
  return capture.inventory.daemons.filter(daemon => daemon.kind === 'dockerd');
}

/** gRPC addresses to ask, without `unix://`: the shims' own first, since they were right on every node seen. */
export function addressesOf(capture: Capture): readonly string[] {
  const fromShims = capture.shims.flatMap(shim => (shim.address === null ? [] : [bare(shim.address)]));
  const fromDaemons = containerdsOf(capture).map(daemon => bare(daemon.address ?? CONTAINERD_ADDRESS));
  return [...new Set(fromShims.length > 0 ? fromShims : fromDaemons)];
}

/** containerd's persistent directory: the shim's `work` link leads into it, and needs no containerd to be asked. */
export function rootsOf(capture: Capture): readonly string[] {
  const fromShims = capture.shims.flatMap(shim => (shim.root === null ? [] : [shim.root]));
  if (fromShims.length > 0) return [...new Set(fromShims)];
  const fromDaemons = containerdsOf(capture).flatMap(daemon => (daemon.root === null ? [] : [daemon.root]));
  return fromDaemons.length > 0 ? [...new Set(fromDaemons)] : [CONTAINERD_ROOT];
}

export function rootOf(capture: Capture, container: Container): string {
  return shimOf(capture, container)?.root ?? rootsOf(capture)[0] ?? CONTAINERD_ROOT;
}

export function dockerRootsOf(capture: Capture): readonly string[] {
  const roots = dockerdsOf(capture).flatMap(daemon => (daemon.root === null ? [] : [daemon.root]));
  return roots.length > 0 ? [...new Set(roots)] : [DOCKER_ROOT];
}

export function reportsTo(shim: Shim, daemon: RuntimeDaemon): boolean {
  if (shim.address !== null && daemon.address !== null) return bare(shim.address) === bare(daemon.address);
  return shim.state === daemon.state;
}

function bare(address: string): string {
  return address.replace(/^unix:\/\//, '');
}
