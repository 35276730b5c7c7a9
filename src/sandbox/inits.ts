import { parseStat } from '../formats/proc/stat.ts';
import type { Host } from '../host/port.ts';
import type { NodeProcess, ProcessTree } from './process-tree.ts';
import { type ReadFiles, readsWithin, textOf } from './reads.ts';
import type { Container } from './types.ts';

/** Whether the init of a container is still there; null where that could not be told. */
export type InitAlive = boolean | null;

/**
 * Whether each container's init lives: the process exists, is no zombie, and is the same one as runc started, by its start
 * time. Where runc's record is gone (its delete is through), by its parent or its cgroup.
 */
export async function initsAlive(
  host: Host,
  containers: readonly Container[],
  tree: ProcessTree,
  deadlineMs: number,
): Promise<ReadonlyMap<Container, InitAlive>> {
  const wanted = containers.flatMap(container => {
    const process = living(tree, container.initPid);
    return process === null ? [] : [{ container, process, path: fileFor(container, process) }];
  });
  const paths = wanted.flatMap(({ path }) => (path === null ? [] : [{ path }]));
  const files = await readsWithin(host, deadlineMs).read(paths);
  const alive = new Map<Container, InitAlive>(
    containers.map(container => [container, container.initPid === null ? null : false]),
  );
  for (const { container, path } of wanted) alive.set(container, path === null ? true : isSame(container, path, files));
  return alive;
}

/** Exited and not yet reaped is not alive. */
export function living(tree: ProcessTree, pid: number | null): NodeProcess | null {
  const process = pid === null ? undefined : tree.processes.get(pid);
  return process === undefined || process.state === 'Z' || process.state === 'X' ? null : process;
}

/** What tells that it is the same process; null for a child of the shim, which is. */
function fileFor({ initStartTicks, shimPid }: Container, { pid, ppid }: NodeProcess): string | null {
  if (initStartTicks !== null) return `/proc/${pid}/stat`;
  return shimPid !== null && ppid === shimPid ? null : `/proc/${pid}/cgroup`;
}

function isSame({ id, initStartTicks }: Container, path: string, files: ReadFiles): InitAlive {
  const outcome = files.get(path)?.outcome;
  if (outcome === 'gone') return false;
  const text = textOf(files, path);
  if (text === null) return null;
  return initStartTicks === null ? text.includes(id) : parseStat(text)?.startTicks === initStartTicks;
}
