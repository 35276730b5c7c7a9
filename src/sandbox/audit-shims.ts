import { setTimeout as sleep } from 'node:timers/promises';
import { isRuncShim } from '../formats/runtime/shim-program.ts';
import { GRACE_MS } from '../formats/views/judge.ts';
import type { Host } from '../host/port.ts';
import { ageSeconds, uptimeSeconds } from './ages.ts';
import { takeInventory } from './inventory.ts';
import { readProcessTree } from './process-tree.ts';
import { sandboxName } from './sandbox-words.ts';
import type { Container, Inventory, Sandbox, Shim } from './types.ts';

/** What does not belong together: a shim that serves nothing, a bundle that nobody serves. */
export interface ShimAudit {
  readonly shimsWithoutChildren: readonly IdleShim[];
  readonly bundlesWithoutShim: readonly LostBundle[];
}

/** A runc shim with no process below it: its containers have ended, and it has not. */
export interface IdleShim {
  readonly pid: number;
  readonly id: string;
  readonly sandbox: string;
  readonly ageSeconds: number | null;
}

/** A container whose bundle directory is there, and whose shim is gone. */
export interface LostBundle {
  readonly containerId: string;
  readonly containerName: string | null;
  readonly sandbox: string;
  readonly path: string;
}

/**
 * Looks a second time, a grace later, when there is anything: a shim has no child before runc made its first, and none in
 * the moment before it ends.
 */
export async function auditShims(
  host: Host,
  inventory: Inventory,
  deadlineMs: number,
  graceMs = GRACE_MS,
): Promise<ShimAudit> {
  const first = auditOf(host, inventory);
  if (first.shimsWithoutChildren.length + first.bundlesWithoutShim.length === 0) return first;
  await sleep(graceMs);
  const again = auditOf(host, await takeInventory(host, null, deadlineMs));
  const idle = new Set(first.shimsWithoutChildren.map(({ pid, id }) => `${pid} ${id}`));
  const lost = new Set(first.bundlesWithoutShim.map(({ path }) => path));
  return {
    shimsWithoutChildren: again.shimsWithoutChildren.filter(({ pid, id }) => idle.has(`${pid} ${id}`)),
    bundlesWithoutShim: again.bundlesWithoutShim.filter(({ path }) => lost.has(path)),
  };
}

function auditOf(host: Host, { sandboxes }: Inventory): ShimAudit {
  const tree = readProcessTree(host);
  const uptime = uptimeSeconds(host);
  const isIdle = (shim: Shim) =>
    isRuncShim(shim) === true && tree.processes.has(shim.pid) && tree.childrenOf(shim.pid).length === 0;
  return {
    shimsWithoutChildren: sandboxes.flatMap(sandbox =>
      sandbox.shims.filter(isIdle).map(shim => {
        const age = ageSeconds({ ...sandbox, shims: [shim] }, uptime);
        return { pid: shim.pid, id: shim.id, sandbox: sandboxName(sandbox), ageSeconds: age };
      }),
    ),
    bundlesWithoutShim: sandboxes.flatMap(sandbox =>
      sandbox.containers.filter(({ shimPid }) => shimPid === null).map(container => lostBundle(sandbox, container)),
    ),
  };
}

function lostBundle(sandbox: Sandbox, { id, name, bundle }: Container): LostBundle {
  return { containerId: id, containerName: name, sandbox: sandboxName(sandbox), path: bundle };
}
