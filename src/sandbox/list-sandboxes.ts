import type { FirstLook, Host } from '../host/port.ts';
import { ageSeconds, uptimeSeconds } from './ages.ts';
import type { BlockedThread } from './blocked-threads.ts';
import { findBlocked } from './find-blocked.ts';
import { initsAlive } from './inits.ts';
import { readProcessTree } from './process-tree.ts';
import { sandboxName } from './sandbox-words.ts';
import type { Inventory, Sandbox } from './types.ts';

/** One sandbox as `stallcap list --json` shows it. */
export interface ListedSandbox {
  /** `shop/web-0`, docker's name, or the containerd namespace and the id: what `grab` takes. */
  readonly name: string;
  readonly id: string;
  readonly pod: Sandbox['pod'];
  /** Of containerd: k8s.io, moby, default. */
  readonly namespace: string;
  readonly runtime: Sandbox['runtime'];
  /** Since its oldest shim was started; null without a shim. */
  readonly ageSeconds: number | null;
  readonly shims: readonly ListedShim[];
  readonly containers: readonly ListedContainer[];
  /** Longest first. */
  readonly blocked: readonly BlockedThread[];
}

export interface ListedShim {
  readonly pid: number;
  readonly id: string;
  readonly address: string | null;
  /** containerd gave the shim up and deleted its bundle. */
  readonly bundleDeleted: boolean;
}

export interface ListedContainer {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  readonly name: string | null;
  readonly initPid: number | null;
  readonly initAlive: boolean | null;
}

/** What there is, from /proc and the state directories alone. */
export async function listSandboxes(
  host: Host,
  { sandboxes }: Inventory,
  firstLook: FirstLook | null,
  deadlineMs: number,
): Promise<readonly ListedSandbox[]> {
  const tree = readProcessTree(host);
  const uptime = uptimeSeconds(host);
  const blocked = await findBlocked(host, sandboxes, { firstLook, deadlineMs, tree });
  const containers = sandboxes.flatMap(sandbox => sandbox.containers);
  const alive = await initsAlive(host, containers, tree, deadlineMs);
  return sandboxes.map(sandbox => ({
    name: sandboxName(sandbox),
    id: sandbox.id,
    pod: sandbox.pod,
    namespace: sandbox.namespace,
    runtime: sandbox.runtime,
    ageSeconds: ageSeconds(sandbox, uptime),
    shims: sandbox.shims.map(({ pid, id, address, bundleDeleted }) => ({ pid, id, address, bundleDeleted })),
    containers: sandbox.containers.map(container => {
      const { id, kind, name, initPid } = container;
      return { id, kind, name, initPid, initAlive: alive.get(container) ?? null };
    }),
    blocked: blocked.get(sandbox) ?? [],
  }));
}
