import type { Host } from '../host/port.ts';

/** A process below another one, as what cannot hang tells it. */
export interface Descendant {
  readonly pid: number;
  readonly ppid: number;
  readonly comm: string;
}

export interface ProcessTree {
  /** Parents before their children. */
  readonly descendants: readonly Descendant[];
  /** True when the tree is larger than what was walked. */
  readonly capped: boolean;
}

/** Threads whose `children` are read; a pod with more is not walked to its end (some 20 us each). */
const MAX_THREADS = 5000;

/**
 * Everything below a process, through /proc/<pid>/task/<tid>/children (proc_tid_children(5)), which takes neither the
 * mmap lock nor the exec lock, so it answers for a process that hangs in either. A kernel without that file
 * (CONFIG_PROC_CHILDREN) is asked by the PPid of every process.
 */
export function processTree(host: Pick<Host, 'read' | 'list' | 'pids'>, root: number): ProcessTree {
  if (host.read(`/proc/${root}/task/${root}/children`).outcome === 'gone') return treeByParent(host, root);
  const descendants: Descendant[] = [];
  const seen = new Set([root]);
  const queue = [root];
  let threads = 0;
  for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
    for (const tid of host.list(`/proc/${parent}/task`)) {
      threads += 1;
      if (threads > MAX_THREADS) return { descendants, capped: true };
      const children = host.read(`/proc/${parent}/task/${tid}/children`).body.toString();
      for (const pid of children.split(' ').filter(Boolean).map(Number)) {
        if (seen.has(pid)) continue;
        seen.add(pid);
        queue.push(pid);
        descendants.push({ pid, ppid: parent, comm: commOf(host, pid) });
      }
    }
  }
  return { descendants, capped: false };
}

function treeByParent(host: Pick<Host, 'read' | 'pids'>, root: number): ProcessTree {
  const processes = host.pids().map(pid => ({ pid, ppid: parentOf(host, pid) }));
  const byParent = Map.groupBy(processes, ({ ppid }) => ppid);
  const below = (parent: number): Descendant[] =>
    (byParent.get(parent) ?? []).flatMap(({ pid, ppid }) => [{ pid, ppid, comm: commOf(host, pid) }, ...below(pid)]);
  return { descendants: below(root), capped: false };
}

function parentOf(host: Pick<Host, 'read'>, pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(host.read(`/proc/${pid}/status`).body.toString())?.[1]);
}

function commOf(host: Pick<Host, 'read'>, pid: number): string {
  return host.read(`/proc/${pid}/comm`).body.toString().replace(/\n$/, '');
}
