import type { View } from './mount-namespaces.ts';
import type { ShimServer } from './shim-servers.ts';
import type { RuntimeDaemon, Sandbox, Shim } from './types.ts';

/**
 * Where a containerd keeps things, as its shims tell it: state by their working directories, root by the `work` links in
 * there. Right on every node seen, also where a configuration has changed since the start or does not answer.
 */
export function stateByShims(
  daemons: readonly RuntimeDaemon[],
  views: ReadonlyMap<number, View>,
  servers: readonly ShimServer[],
): readonly RuntimeDaemon[] {
  return daemons.map(daemon => {
    const own = servers.find(server => reportsTo(server, daemon, views.get(daemon.pid)));
    return own === undefined ? daemon : { ...daemon, state: own.view.prefix + own.path.state };
  });
}

function reportsTo({ flags, view }: ShimServer, daemon: RuntimeDaemon, daemonView: View | undefined): boolean {
  const bare = (text: string) => text.replace(/^unix:\/\//, '');
  if (daemon.kind !== 'containerd' || daemon.address === null || flags?.address == null) return false;
  return view.namespace === daemonView?.namespace && bare(flags.address) === bare(daemon.address);
}

/** After `stateByShims`: root of each containerd by its shims, and of each shim that has no link by its neighbours. */
export function rootsByShims(daemons: readonly RuntimeDaemon[], sandboxes: readonly Sandbox[]) {
  const told = new Map<string, string>();
  for (const { state, root } of sandboxes.flatMap(({ shims }) => shims)) if (root !== null) told.set(state, root);
  const settled = daemons.map(daemon => ({
    ...daemon,
    root: (daemon.kind === 'containerd' ? told.get(daemon.state ?? '') : undefined) ?? daemon.root,
  }));
  const rootOf = ({ root, state }: Shim) =>
    root ??
    told.get(state) ??
    daemons.find(daemon => daemon.kind === 'containerd' && daemon.state === state)?.root ??
    null;
  return {
    daemons: settled,
    sandboxes: sandboxes.map(sandbox => ({
      ...sandbox,
      shims: sandbox.shims.map(shim => ({ ...shim, root: rootOf(shim) })),
    })),
  };
}
