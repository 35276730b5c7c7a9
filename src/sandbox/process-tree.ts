import { parseStatus } from '../formats/proc/status.ts';
import type { Host } from '../host/port.ts';

/** A process of the node, as its `status` tells it: the one file that answers also for a process inside execve. */
export interface NodeProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly comm: string;
  /** Letter of /proc/<pid>/stat. */
  readonly state: string;
}

export interface ProcessTree {
  readonly processes: ReadonlyMap<number, NodeProcess>;
  childrenOf(pid: number): readonly NodeProcess[];
  /** Everything below, parents before their children. */
  descendantsOf(pid: number): readonly NodeProcess[];
}

/** All processes of the node, read in this process: some 30 us each. */
export function readProcessTree(host: Pick<Host, 'pids' | 'read'>): ProcessTree {
  const processes = new Map<number, NodeProcess>();
  const children = new Map<number, NodeProcess[]>();
  for (const pid of host.pids()) {
    const { ppid, name, state } = parseStatus(host.read(`/proc/${pid}/status`).body.toString('utf8'));
    if (ppid === null || state === null) continue;
    const process = { pid, ppid, comm: name ?? '', state };
    processes.set(pid, process);
    // In place: kthreadd of a node with 256 CPUs has thousands of children.
    const siblings = children.get(ppid);
    if (siblings === undefined) children.set(ppid, [process]);
    else siblings.push(process);
  }
  const childrenOf = (pid: number) => children.get(pid) ?? [];
  const descendantsOf = (root: number) => {
    const found: NodeProcess[] = [];
    const seen = new Set([root]);
    const take = (parent: number) => {
      for (const process of childrenOf(parent)) {
        if (seen.has(process.pid)) continue;
        seen.add(process.pid);
        found.push(process);
      }
    };
    take(root);
    // What is found grows meanwhile. A pod without a limit has a hundred thousand processes, all of one parent.
    for (let next = 0; next < found.length; next++) take((found[next] as NodeProcess).pid);
    return found;
  };
  return { processes, childrenOf, descendantsOf };
}
