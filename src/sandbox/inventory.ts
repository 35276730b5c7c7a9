import type { FirstLook, Host } from '../host/port.ts';
import { type Bundle, type KnownShims, readBundles } from './bundles.ts';
import { readDaemons } from './daemons.ts';
import { readDockerRecords } from './docker-records.ts';
import { groupSandboxes } from './group.ts';
import { type View, viewsOf } from './mount-namespaces.ts';
import { withOurPids } from './nested-pids.ts';
import { addOrphans } from './orphans.ts';
import { nameByLogs } from './pod-names.ts';
import { readLinks } from './process-links.ts';
import { type Reads, readsWithin } from './reads.ts';
import { findRuntimeProcesses, type RuntimeProcesses } from './runtime-processes.ts';
import { type ShimServer, shimServers } from './shim-servers.ts';
import { findBundles, statesOf } from './task-places.ts';
import { rootsByShims, stateByShims } from './told-by-shims.ts';
import type { Inventory, RuntimeDaemon, Sandbox } from './types.ts';

/**
 * Sandboxes and daemons of the node, from /proc, the state directories and runc's records; no daemon is asked.
 * Processes are found in this process, by what cannot hang; all files are a probe's, in few calls.
 */
export async function takeInventory(host: Host, firstLook: FirstLook | null, deadlineMs: number): Promise<Inventory> {
  const reads = readsWithin(host, deadlineMs);
  const processes = findRuntimeProcesses(host, firstLook);
  const inventory = await inventoryOf(processes, host, reads);
  if (inventory.sandboxes.every(({ shims }) => shims.length > 0)) return inventory;
  // A pod that is being made has its shim a moment after its bundle: nothing is called gone that only came later.
  const now = findRuntimeProcesses(host, firstLook);
  const came = now.shims.some(({ pid }) => !processes.shims.some(shim => shim.pid === pid));
  return came ? inventoryOf(now, host, reads) : inventory;
}

async function inventoryOf(processes: RuntimeProcesses, host: Host, reads: Reads): Promise<Inventory> {
  const links = await readLinks(processes, reads);
  const views = viewsOf(processes, links);
  const configured = await readDaemons(processes.daemons, links, views, reads);
  const servers = shimServers(processes.shims, links, views, configured);
  const daemons = stateByShims(configured, views, servers);
  const bundles = await bundlesOf(servers, daemons, views, reads);
  const docker = await readDockerRecords(bundles, daemons, reads);
  const grouped = groupSandboxes({ shims: servers, bundles, docker });
  const rooted = rootsByShims(daemons, grouped);
  const sandboxes = await named(host, withOurPids(host, rooted.sandboxes), bundles, reads);
  return { sandboxes, daemons: rooted.daemons, gaps: reads.gaps };
}

async function bundlesOf(
  servers: readonly ShimServer[],
  daemons: readonly RuntimeDaemon[],
  views: ReadonlyMap<number, View>,
  reads: Reads,
): Promise<readonly Bundle[]> {
  const places = await findBundles(servers, statesOf(daemons, views), reads);
  const shims: KnownShims = new Map(
    servers.map(({ flags, view, path }) => [view.prefix + path.dir, { runcRoot: flags?.runtimeRoot ?? null }]),
  );
  return readBundles(places, shims, reads);
}

/** What a deleted bundle would have said, and the names to uids. */
async function named(
  host: Host,
  grouped: readonly Sandbox[],
  bundles: readonly Bundle[],
  reads: Reads,
): Promise<readonly Sandbox[]> {
  const { sandboxes, podUids } = await addOrphans(host, grouped, reads);
  const uids = new Map([...bundles.map(({ path, podUid }) => [path, podUid] as const), ...podUids]);
  return nameByLogs(sandboxes, uids, reads);
}
