import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host/port.ts';
import { type InitAlive, initsAlive, living } from './inits.ts';
import { readProcessTree } from './process-tree.ts';
import { type Gap, type Reads, readsWithin, textOf } from './reads.ts';
import { sandboxName } from './sandbox-words.ts';
import { readStatusFiles, rereadStatusFiles, type StatusFile } from './status-files.ts';
import type { Inventory } from './types.ts';

/** A container about which its runtime and the kernel disagree. */
export interface Disagreement {
  readonly containerId: string;
  readonly containerName: string | null;
  /** Name of its sandbox; null for a container that has no bundle any more. */
  readonly sandbox: string | null;
  readonly by: StatusFile['by'];
  readonly path: string;
  readonly says: StatusFile['says'];
  /** The init that is gone, or is still there. */
  readonly initPid: number | null;
  readonly initAlive: boolean;
  /** Since the file was written; null where that is not known. */
  readonly writtenSecondsAgo: number | null;
}

export interface StatusCheck {
  /** Containers whose status file was compared with /proc. */
  readonly compared: number;
  readonly disagreements: readonly Disagreement[];
  /** What could not be read, and so not compared. */
  readonly gaps: readonly Gap[];
}

/** A runtime may take that long to write down what happened. */
const GRACE_MS = 1000;

/**
 * Compares what the runtimes wrote down with /proc: CRI status files, docker's config.v2.json. A difference younger than a
 * second does not count: neither where the file is, nor where it goes away within one.
 */
export async function checkStatus(
  host: Host,
  inventory: Inventory,
  deadlineMs: number,
  graceMs = GRACE_MS,
): Promise<StatusCheck> {
  const reads = readsWithin(host, deadlineMs);
  const files = await readStatusFiles(inventory, reads);
  const first = await disagreeing(files, inventory, host, reads, deadlineMs);
  if (first.length === 0) return { compared: files.length, disagreements: [], gaps: reads.gaps };
  await sleep(graceMs);
  const again = await rereadStatusFiles(
    files.filter(({ path }) => first.some(row => row.path === path)),
    reads,
  );
  const disagreements = await disagreeing(again, inventory, host, reads, deadlineMs);
  return { compared: files.length, disagreements, gaps: reads.gaps };
}

async function disagreeing(
  files: readonly StatusFile[],
  { sandboxes }: Inventory,
  host: Host,
  reads: Reads,
  deadlineMs: number,
): Promise<readonly Disagreement[]> {
  const tree = readProcessTree(host);
  const now = Date.parse(host.now().wall);
  const known = new Map(
    sandboxes.flatMap(sandbox => sandbox.containers.map(container => [container.id, { sandbox, container }] as const)),
  );
  const hasInit = ({ containerId }: StatusFile) => known.get(containerId)?.container.initPid != null;
  const owned = files.flatMap(({ containerId }) => known.get(containerId)?.container ?? []);
  const alive = await initsAlive(host, owned, tree, deadlineMs);
  const lost = files.filter(file => !hasInit(file) && living(tree, file.pid) !== null);
  const cgroups = await reads.read(lost.map(({ pid }) => ({ path: `/proc/${pid}/cgroup` })));
  /** Without a bundle there is the runtime's pid alone; another process may have it by now. */
  const byRuntimesPid = ({ containerId, pid }: StatusFile): boolean =>
    textOf(cgroups, `/proc/${pid}/cgroup`)?.includes(containerId) ?? false;

  return files.flatMap(file => {
    const owner = known.get(file.containerId);
    const initAlive = owner && hasInit(file) ? (alive.get(owner.container) ?? null) : byRuntimesPid(file);
    const writtenSecondsAgo = file.mtimeNs === null ? null : (now - Number(BigInt(file.mtimeNs) / 1_000_000n)) / 1000;
    const young = writtenSecondsAgo !== null && writtenSecondsAgo < GRACE_MS / 1000;
    if (initAlive === null || young || !differs(file.says, initAlive)) return [];
    const { containerId, by, path, says } = file;
    return [
      {
        ...{ containerId, by, path, says, initAlive, writtenSecondsAgo },
        containerName: owner?.container.name ?? null,
        sandbox: owner === undefined ? null : sandboxName(owner.sandbox),
        initPid: owner?.container.initPid ?? file.pid,
      },
    ];
  });
}

/** Created says nothing of a process: runc may have made its init, or not. */
function differs(says: StatusFile['says'], alive: InitAlive): boolean {
  return (says === 'running' && alive === false) || (says === 'exited' && alive === true);
}
