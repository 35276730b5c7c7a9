import { parseStack } from '../formats/proc/stack.ts';
import { parseSyscall } from '../formats/proc/syscall.ts';
import { type Architecture, architectureOf, syscallName } from '../formats/proc/syscall-names.ts';
import { roleOf, waitsInVain } from '../formats/proc/waiting-places.ts';
import { wchanSymbol } from '../formats/proc/wchan.ts';
import { type DumpedThread, parseThreadDump } from '../formats/thread-dump.ts';

/** A thread of the pod's tree that waits in a place where nobody idles. */
export interface BlockedThread {
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** Letter of /proc/<pid>/stat. Not always D: a wait for FUSE or for a pipe is S. */
  readonly state: string;
  readonly wchan: string | null;
  /** 'umount2'; the number where the name is not known; null where it could not be read. */
  readonly syscall: string | null;
  readonly blockedForMs: number | null;
  /** Folder of the bundle that it was found in: 'shim', 'containers/<id>', 'node'. */
  readonly where: string;
  readonly stack: readonly string[];
  /** Looks in which it stood in the same call with the same stack, and looks in all. */
  readonly seen: number;
  readonly looks: number;
}

/**
 * The blocked threads of a pod's own tree, longest first, from the thread dumps of all looks. A thread that is in D in
 * one look and elsewhere in the next is not blocked: it waited for something that came.
 *
 * @param dumps texts by path: `shim/threads-1.txt`, `shim/threads-2.txt`, `containers/<id>/threads-1.txt`
 * @param machine os.arch() or uname -m of the node
 */
export function blockedThreads(dumps: ReadonlyMap<string, string>, machine: string): readonly BlockedThread[] {
  const architecture = architectureOf(machine);
  return [...byFolder(dumps)]
    .flatMap(([where, looks]) => blockedIn(where, looks, architecture))
    .sort((a, b) => (b.blockedForMs ?? 0) - (a.blockedForMs ?? 0));
}

const LOOK = /^(.+)\/(?:threads|children)-(\d+)\.txt$/;

/** Folder and kind to its looks, first to last. node/blocked.txt is another question: whole node, one look. */
function byFolder(dumps: ReadonlyMap<string, string>): ReadonlyMap<string, readonly (readonly DumpedThread[])[]> {
  const rounds = [...dumps].flatMap(([path, text]) => {
    const [, folder = '', round = ''] = LOOK.exec(path) ?? [];
    if (folder === '') return [];
    const kind = path.includes('/children-') ? ' children' : '';
    return [{ where: folder + kind, round: Number(round), threads: parseThreadDump(text).threads }];
  });
  rounds.sort((a, b) => a.round - b.round);
  return new Map(
    Object.entries(Object.groupBy(rounds, ({ where }) => where)).map(([where, looks = []]) => [
      where,
      looks.map(({ threads }) => threads),
    ]),
  );
}

function blockedIn(
  where: string,
  looks: readonly (readonly DumpedThread[])[],
  architecture: Architecture | null,
): readonly BlockedThread[] {
  const last = looks.at(-1) ?? [];
  return last.filter(waits).flatMap(thread => {
    const before = looks.map(look => look.find(({ tid, pid }) => tid === thread.tid && pid === thread.pid));
    const seen = before.filter(look => look !== undefined && standsAsIn(look, thread)).length;
    if (looks.length > 1 && seen < 2) return [];
    return [{ ...asBlocked(thread, architecture), where, seen, looks: looks.length }];
  });
}

const NODE_DUMP = 'node/blocked.txt';
/** A wait shorter than this is work: every reader of a disk is in D for moments. */
const WORK_SECONDS = 1;
const RUNTIME = /^(?:containerd|dockerd|kubelet|crio|runc)/;

/**
 * Threads in D of everybody else on the node, by one look: those that run containers first, since a pod waits for them,
 * then the longest first.
 */
export function blockedElsewhere(dumps: ReadonlyMap<string, string>, machine: string): readonly BlockedThread[] {
  const own = new Set([...byFolder(dumps).values()].flat(2).map(({ pid }) => pid));
  const architecture = architectureOf(machine);
  const isRuntime = ({ comm }: BlockedThread) => Number(RUNTIME.test(comm));
  return parseThreadDump(dumps.get(NODE_DUMP) ?? '')
    .threads.filter(({ state, pid, blockedForSeconds }) => {
      return state === 'D' && !own.has(pid) && (blockedForSeconds ?? WORK_SECONDS) >= WORK_SECONDS;
    })
    .map(thread => ({ ...asBlocked(thread, architecture), where: 'node', seen: 1, looks: 1 }))
    .sort((a, b) => isRuntime(b) - isRuntime(a) || (b.blockedForMs ?? 0) - (a.blockedForMs ?? 0));
}

function asBlocked(
  thread: DumpedThread,
  architecture: Architecture | null,
): Omit<BlockedThread, 'where' | 'seen' | 'looks'> {
  return {
    ...{ pid: thread.pid ?? thread.tid, tid: thread.tid, comm: thread.comm ?? '?', state: thread.state ?? '?' },
    wchan: wchanSymbol(thread.wchan),
    syscall: thread.syscall === null ? null : callName(thread.syscall, architecture),
    blockedForMs: thread.blockedForSeconds === null ? null : thread.blockedForSeconds * 1000,
    stack: thread.stack ?? [],
  };
}

function waits({ state, wchan, comm, stack }: DumpedThread): boolean {
  const place = wchanSymbol(wchan) ?? parseStack((stack ?? []).join('\n'))[0]?.symbol ?? null;
  return waitsInVain({ role: roleOf(comm), state: state ?? '?', place });
}

function standsAsIn(a: DumpedThread, b: DumpedThread): boolean {
  return a.syscall === b.syscall && (a.stack ?? []).join('\n') === (b.stack ?? []).join('\n');
}

function callName(text: string, architecture: Architecture | null): string | null {
  const call = parseSyscall(text);
  if (call.kind !== 'call') return null;
  return (architecture === null ? null : syscallName(call.number, architecture)) ?? String(call.number);
}
