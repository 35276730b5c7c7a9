import { parseStat } from '../formats/proc/stat.ts';
import type { Host } from '../host/port.ts';
import type { NodeProcess, ProcessTree } from './process-tree.ts';
import { type ReadFiles, readsWithin, textOf } from './reads.ts';
import type { Container } from './types.ts';

/** Whether the init of a container is still there; null where that could not be told. */
export type InitAlive = boolean | null;

/**
 * `zombie`: it has ended, and its shim has not reaped it · `reused`: its pid is another process's by now · null: not known.
 * What has ended without a trace is `gone`.
 */
export type InitState = 'alive' | 'zombie' | 'gone' | 'reused' | null;

/** Alive is what exists, is no zombie, and is the process that runc started. */
export async function initsAlive(
  host: Host,
  containers: readonly Container[],
  tree: ProcessTree,
  deadlineMs: number,
): Promise<ReadonlyMap<Container, InitAlive>> {
  const states = await initStates(host, containers, tree, deadlineMs);
  return new Map([...states].map(([container, state]) => [container, state === null ? null : state === 'alive']));
}

/**
 * What has become of each container's init: the same process is told by its start time. Where runc's record is gone (its
 * delete is through), by its parent or its cgroup.
 */
export async function initStates(
  host: Host,
  containers: readonly Container[],
  tree: ProcessTree,
  deadlineMs: number,
): Promise<ReadonlyMap<Container, InitState>> {
  const wanted = containers.flatMap(container => {
    const process = container.initPid === null ? undefined : tree.processes.get(container.initPid);
    return process === undefined ? [] : [{ container, process, path: fileFor(container, process) }];
  });
  const paths = wanted.flatMap(({ path }) => (path === null ? [] : [{ path }]));
  const files = await readsWithin(host, deadlineMs).read(paths);
  const states = new Map<Container, InitState>(
    containers.map(container => [container, container.initPid === null ? null : 'gone']),
  );
  for (const { container, process, path } of wanted) {
    const found = hasEnded(process) ? 'zombie' : 'alive';
    states.set(container, path === null ? found : stateBy(container, path, files, found));
  }
  return states;
}

/** Exited and not yet reaped is not alive. */
export function living(tree: ProcessTree, pid: number | null): NodeProcess | null {
  const process = pid === null ? undefined : tree.processes.get(pid);
  return process === undefined || hasEnded(process) ? null : process;
}

function hasEnded({ state }: NodeProcess): boolean {
  return state === 'Z' || state === 'X';
}

/** What tells that it is the same process; null for a child of the shim, which is. */
function fileFor({ initStartTicks, shimPid }: Container, { pid, ppid }: NodeProcess): string | null {
  if (initStartTicks !== null) return `/proc/${pid}/stat`;
  return shimPid !== null && ppid === shimPid ? null : `/proc/${pid}/cgroup`;
}

function stateBy(
  { id, initStartTicks }: Container,
  path: string,
  files: ReadFiles,
  found: 'alive' | 'zombie',
): InitState {
  if (files.get(path)?.outcome === 'gone') return 'gone';
  const text = textOf(files, path);
  if (text === null) return null;
  const same = initStartTicks === null ? text.includes(id) : parseStat(text)?.startTicks === initStartTicks;
  return same ? found : 'reused';
}
