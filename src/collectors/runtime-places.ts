import { prefixOf } from '../sandbox/mount-prefix.ts';
import type { Container, RuntimeDaemon, Shim } from '../sandbox/types.ts';
import type { Capture } from './collector.ts';

/** containerd's own defaults (containerd, defaults/defaults_unix.go). */
const CONTAINERD_ROOT = '/var/lib/containerd';
const CONTAINERD_ADDRESS = '/run/containerd/containerd.sock';
const DOCKER_ROOT = '/var/lib/docker';

/** The shim that has a container; of one that is not known, the first of the target. */
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

/** The dockerds that matter: the one whose own containerd the target's shims belong to, else every one of the node. */
export function dockerdsOf(capture: Capture): readonly RuntimeDaemon[] {
  const all = capture.inventory.daemons.filter(daemon => daemon.kind === 'dockerd');
  const own = all.filter(({ state }) =>
    capture.shims.some(shim => state !== null && shim.state.startsWith(`${state}/`)),
  );
  return own.length > 0 ? own : all;
}

/**
 * Sockets to ask, without `unix://`: the shims' own first, since they were right on every node seen. Those of another
 * mount namespace (kind, snaps) are reached through the root of a process in it.
 */
export function addressesOf(capture: Capture): readonly string[] {
  const fromShims = capture.shims.flatMap(({ address, state }) =>
    address === null ? [] : [prefixOf(state) + bare(address)],
  );
  const fromDaemons = containerdsOf(capture).map(
    ({ address, state }) => prefixOf(state ?? '') + bare(address ?? CONTAINERD_ADDRESS),
  );
  return [...new Set(fromShims.length > 0 ? fromShims : fromDaemons)];
}

/** containerd's persistent directory: the shim's `work` link leads into it, and needs no containerd to be asked. */
export function rootsOf(capture: Capture): readonly string[] {
  const fromShims = capture.shims.flatMap(shim => (shim.root === null ? [] : [shim.root]));
  if (fromShims.length > 0) return [...new Set(fromShims)];
  const fromDaemons = containerdsOf(capture).flatMap(daemon => (daemon.root === null ? [] : [daemon.root]));
  return fromDaemons.length > 0 ? [...new Set(fromDaemons)] : [CONTAINERD_ROOT];
}

/** containerd's root for a container: as its shim's command line has it, else that of its containerd. */
export function rootOf(capture: Capture, container: Container): string {
  return shimOf(capture, container)?.root ?? rootsOf(capture)[0] ?? CONTAINERD_ROOT;
}

/** dockerd's data roots. */
export function dockerRootsOf(capture: Capture): readonly string[] {
  const roots = dockerdsOf(capture).flatMap(daemon => (daemon.root === null ? [] : [daemon.root]));
  return roots.length > 0 ? [...new Set(roots)] : [DOCKER_ROOT];
}

/** By address, of which two nodes in containers (kind) may have the same, each in its own mount namespace. */
export function reportsTo(shim: Shim, daemon: RuntimeDaemon): boolean {
  if (shim.address === null || daemon.address === null) return shim.state === daemon.state;
  const together = daemon.state === null || prefixOf(shim.state) === prefixOf(daemon.state);
  return together && bare(shim.address) === bare(daemon.address);
}

function bare(address: string): string {
  return address.replace(/^unix:\/\//, '');
}
