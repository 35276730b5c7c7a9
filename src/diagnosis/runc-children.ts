/** The runc that a shim has started and waits for, with all that is known about it. */
import { isInside } from '../formats/goroutines/goroutine.ts';
import { waitsInVain } from '../formats/proc/waiting-places.ts';
import type { Facts, GoroutineFact, Process, Thread } from './facts.ts';
import type { Part } from './rule.ts';
import { sleepsIn } from './standstill.ts';

export interface RuncChild {
  readonly pid: number;
  /** `create`, `start`, `kill`, `delete`, `exec`, …; null when its command line could not be read. */
  readonly command: string | null;
  /** Container of the target that it is about; null when its command line names none. */
  readonly container: string | null;
  readonly shimPid: number | null;
  /** From the process table; null when it was not in it. */
  readonly row: Process | null;
  /** Its own, and those of what is below it (`runc init`). */
  readonly threads: readonly Thread[];
}

/** Of runc and crun (main.go of each): what a shim asks of them. */
const COMMANDS = 'create start kill delete exec events ps pause resume update state checkpoint'.split(' ');

/** Every runc of the pod in any look: a child of a shim that is not inside of a container. */
export function runcChildren(facts: Pick<Facts, 'threads' | 'processes' | 'target' | 'shims'>): readonly RuncChild[] {
  const { threads, processes, target, shims } = facts;
  const own = threads?.all.filter(({ role }) => role === 'runc') ?? [];
  return [...Map.groupBy(own, ({ pid }) => pid)].map(([pid, of]): RuncChild => {
    const row = processes?.byPid.get(pid) ?? null;
    const words = row?.args.split(' ') ?? [];
    const below = new Set(processes?.children.get(pid)?.map(child => child.pid));
    const parent = shims?.find(shim => shim.children?.some(child => child.pid === pid && child.ppid === shim.pid));
    return {
      ...{ pid, row },
      command: words.find(word => COMMANDS.includes(word)) ?? null,
      container: words.findLast(word => target.ids.has(word)) ?? null,
      shimPid: parent?.pid ?? row?.ppid ?? null,
      threads: [...of, ...(threads?.all.filter(thread => below.has(thread.pid)) ?? [])],
    };
  });
}

/** Of its threads the one that tells where it waits: in D before others, what is below runc before runc. Null when all are idle. */
export function threadThatTells({ threads }: Pick<RuncChild, 'threads'>): Thread | null {
  const waiting = threads.filter(thread => {
    const role = thread.role === 'runc' || thread.role === 'runc init' ? 'runc' : 'application';
    return waitsInVain({ role, state: thread.state, place: sleepsIn(thread) });
  });
  const rank = ({ state, role }: Thread) => (state === 'D' ? 0 : state !== 'S' ? 1 : role === 'runc init' ? 2 : 3);
  return waiting.toSorted((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** What somebody waits for who waits for this runc: it, and the thread of it that tells. A runc younger than 10 s is no finding of its own. */
export function partsOfRunc(child: RuncChild): readonly Part[] {
  const where = threadThatTells(child);
  return [`process:${child.pid}`, ...(where === null ? [] : [`thread:${where.tid}` as const])];
}

/** `read: anon_pipe_read, state S`, `newfstatat of its child 4711 (runc:[2:INIT]): request_wait_answer, state S`. */
export function placeOf(thread: Thread, { pid }: Pick<RuncChild, 'pid'>): string {
  const who = thread.pid === pid ? '' : ` of its child ${thread.pid} (${thread.comm})`;
  return `${thread.call?.name ?? 'no system call'}${who}: ${sleepsIn(thread) ?? 'place unknown'}, state ${thread.state}`;
}

/** go-runc's methods. */
const RUNS: Readonly<Record<string, string>> = {
  create: '(*Runc).Create',
  start: '(*Runc).Start',
  kill: '(*Runc).Kill',
  delete: '(*Runc).Delete',
  exec: '(*Runc).Exec',
};

/** The goroutine of the shim that waits for this runc; null when none or several may. */
export function goroutineWaitingFor(child: RuncChild, { goroutines }: Pick<Facts, 'goroutines'>): GoroutineFact | null {
  const call = RUNS[child.command ?? ''];
  const dump = goroutines?.find(({ shimPid }) => shimPid === child.shimPid);
  if (call === undefined || dump === undefined) return null;
  const found = dump.all.filter(goroutine => isInside(goroutine, ['(*Monitor).Wait', call]));
  return found.length === 1 ? (found[0] ?? null) : null;
}
