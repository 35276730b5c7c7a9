import { setTimeout as sleep } from 'node:timers/promises';
import { isRuncShim } from '../formats/runtime/shim-program.ts';
import { type Contradiction, GRACE_MS, judgeViews } from '../formats/views/judge.ts';
import type { View } from '../formats/views/view.ts';
import type { Host } from '../host/port.ts';
import { type InitState, initStates, living } from './inits.ts';
import { procView } from './proc-view.ts';
import { readProcessTree } from './process-tree.ts';
import { type Gap, type Reads, readsWithin, textOf } from './reads.ts';
import { sandboxName } from './sandbox-words.ts';
import { readStatusFiles, rereadStatusFiles, type StatusFile, viewOfStatusFile } from './status-files.ts';
import type { Container, Inventory, Sandbox } from './types.ts';
import { wallTime } from './wall-time.ts';

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

/** Timers may fire a millisecond early. */
const TIMER_SLACK_MS = 2;

/**
 * Compares what the runtimes wrote down with /proc: CRI status files, docker's config.v2.json. Both are read a second time,
 * a grace later, where they disagree: see judge.ts for what counts.
 */
export async function checkStatus(
  host: Host,
  inventory: Inventory,
  deadlineMs: number,
  graceMs = GRACE_MS,
): Promise<StatusCheck> {
  const reads = readsWithin(host, deadlineMs);
  const files = await readStatusFiles(inventory, reads);
  const first = await compare(files, inventory, host, reads, deadlineMs);
  const doubtful = first.filter(({ views }) => isDoubtful(views, graceMs));
  if (doubtful.length === 0) return { compared: files.length, disagreements: [], gaps: reads.gaps };
  await sleep(graceMs + TIMER_SLACK_MS);
  const before = new Map(doubtful.map(({ file, views }) => [file.path, views]));
  const again = await rereadStatusFiles(
    doubtful.map(({ file }) => file),
    reads,
  );
  const now = Date.parse(host.now().wall);
  const disagreements = (await compare(again, inventory, host, reads, deadlineMs)).flatMap(({ file, owner, views }) => {
    const all = [...(before.get(file.path) ?? []), ...views];
    const [contradiction] = judgeViews({ views: all }, graceMs).contradictions;
    return contradiction === undefined ? [] : [disagreementOf(file, owner, contradiction, now)];
  });
  return { compared: files.length, disagreements, gaps: reads.gaps };
}

interface Compared {
  readonly file: StatusFile;
  readonly owner: Owner | undefined;
  /** What the file says, then /proc. */
  readonly views: readonly View[];
}

interface Owner {
  readonly sandbox: Sandbox;
  readonly container: Container;
}

async function compare(
  files: readonly StatusFile[],
  { sandboxes }: Inventory,
  host: Host,
  reads: Reads,
  deadlineMs: number,
): Promise<readonly Compared[]> {
  const tree = readProcessTree(host);
  const known = new Map(
    sandboxes.flatMap(sandbox => sandbox.containers.map(container => [container.id, { sandbox, container }] as const)),
  );
  const withInit = ({ containerId }: StatusFile) => {
    const owner = known.get(containerId);
    return owner?.container.initPid == null ? undefined : owner.container;
  };
  const states = await initStates(
    host,
    files.flatMap(file => withInit(file) ?? []),
    tree,
    deadlineMs,
  );
  const lost = files.filter(file => withInit(file) === undefined && living(tree, file.pid) !== null);
  const cgroups = await reads.read(lost.map(({ pid }) => ({ path: `/proc/${pid}/cgroup` })));
  /** Without a bundle there is the runtime's pid alone; another process may have it by now. */
  const byRuntimesPid = ({ containerId, pid }: StatusFile): InitState =>
    textOf(cgroups, `/proc/${pid}/cgroup`)?.includes(containerId) === true ? 'alive' : 'gone';
  const at = wallTime(host, host.now().offsetMs);
  return files.map(file => {
    const container = withInit(file);
    const owner = known.get(file.containerId);
    const unnamed = isOfOtherRuntime(owner) ? null : byRuntimesPid(file);
    const state = container === undefined ? unnamed : (states.get(container) ?? null);
    const proc = procView(state, container?.initPid ?? file.pid, at);
    return { file, owner, views: [viewOfStatusFile(file, host), proc] };
  });
}

/** The pid that CRI has of a container of kata is that of the virtual machine, whose cgroup names no container. */
function isOfOtherRuntime(owner: Owner | undefined): boolean {
  const shim = owner?.sandbox.shims.find(({ pid }) => pid === owner.container.shimPid);
  return shim !== undefined && isRuncShim(shim) === false;
}

function isDoubtful(views: readonly View[], graceMs: number): boolean {
  const { open, contradictions } = judgeViews({ views }, graceMs);
  return open || contradictions.length > 0;
}

function disagreementOf(
  { containerId, by, path, says, mtimeNs }: StatusFile,
  owner: Owner | undefined,
  { against }: Contradiction,
  now: number,
): Disagreement {
  return {
    ...{ containerId, by, path, says, initAlive: against.says === 'running', initPid: against.pid },
    // A clock that was set back has written it in the future.
    writtenSecondsAgo: mtimeNs === null ? null : Math.max(0, now - Number(BigInt(mtimeNs) / 1_000_000n)) / 1000,
    containerName: owner?.container.name ?? null,
    sandbox: owner === undefined ? null : sandboxName(owner.sandbox),
  };
}
