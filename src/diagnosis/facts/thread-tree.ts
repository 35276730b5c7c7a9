import type { DumpedThread } from '../../formats/thread-dump.ts';
import type { ProcessTable, ThreadRole } from '../facts.ts';
import type { Entries } from './entries.ts';
import type { Look } from './look.ts';
import { descendants } from './processes.ts';

/** Processes of the pod, and what each is. */
export type Tree = ReadonlyMap<number, { readonly role: ThreadRole; readonly container: string | null }>;

/** Its shims and all that runs below them: by the looks, and by the table where there is one. Empty for a target without a shim. */
export function treeOf(entries: Entries, looks: readonly Look[], processes: ProcessTable | null): Tree {
  const { target } = entries.plan;
  const tree = new Map<number, { role: ThreadRole; container: string | null }>();
  if (target.kind !== 'sandbox') return tree;
  const { shims, containers } = target.sandbox;
  const inits = new Map(containers.flatMap(({ id, initPid }) => (initPid === null ? [] : [[initPid, id] as const])));
  const add = (pid: number, comm: string | null, container: string | null) => {
    if (!tree.has(pid)) tree.set(pid, { role: roleOf(comm, inits.has(pid)), container: inits.get(pid) ?? container });
  };
  for (const { pid } of shims) tree.set(pid, { role: 'shim', container: null });
  for (const look of looks) for (const { tid, pid, comm } of look.threads.values()) add(pid ?? tid, comm, null);
  if (processes === null) return tree;
  for (const [pid, id] of inits) {
    const init = processes.byPid.get(pid);
    if (init === undefined) continue;
    add(pid, init.args, id);
    for (const child of descendants(processes, pid)) add(child.pid, commOf(child.args), id);
  }
  for (const { pid } of shims)
    for (const child of descendants(processes, pid)) add(child.pid, commOf(child.args), null);
  return tree;
}

/** `runc init` shows itself as `runc:[2:INIT]`, and its command line as `runc init`. */
function roleOf(comm: string | null, isInit: boolean): ThreadRole {
  const name = comm ?? '';
  if (/^(?:runc|crun|youki):\[/.test(name) || /^(?:\S*\/)?(?:runc|crun|youki) init\b/.test(name)) return 'runc init';
  if (isInit) return 'init';
  if (/^(?:\S*\/)?(?:runc|runsc|crun|youki|nvidia-containe[^\s/]*)(?: |$)/.test(name)) return 'runc';
  // A fork of the shim that is not through its execve yet is called like the shim.
  return name.startsWith('containerd-shim') ? 'shim' : 'application';
}

const commOf = (args: string) => args.replace(/^\[|\](?: <defunct>)?$/g, '');

/** The threads of a look that are in the tree. */
export function only({ threads }: Look, tree: Tree): ReadonlyMap<number, DumpedThread> {
  return new Map([...threads].filter(([tid, { pid }]) => tree.has(pid ?? tid)));
}

/** Those that are not. */
export function without({ threads }: Look, tree: Tree): ReadonlyMap<number, DumpedThread> {
  return new Map([...threads].filter(([tid, { pid }]) => !tree.has(pid ?? tid)));
}
