import { parseFrame } from '../../formats/proc/stack.ts';
import { parseSyscall } from '../../formats/proc/syscall.ts';
import { architectureOf, syscallName } from '../../formats/proc/syscall-names.ts';
import { isIdle, wchanSymbol } from '../../formats/proc/wchan.ts';
import { type DumpedThread, parseThreadDump } from '../../formats/thread-dump.ts';
import { type Citation, cite } from '../citation.ts';
import type { Call, Frame, NodeThreads, PodThreads, ProcessTable, Thread } from '../facts.ts';
import { type Course, coursesOf } from './courses.ts';
import type { Entries } from './entries.ts';
import type { Look } from './look.ts';
import { only, type Tree, treeOf, without } from './thread-tree.ts';

const POD_LOOK = /^(?:shim(?:\/\d+)?|containers\/[^/]+)\/(?:threads|children)-(\d+)\.txt$/;
const BLOCKED = 'node/blocked.txt';

export interface ThreadFacts {
  readonly pod: PodThreads | null;
  readonly node: NodeThreads | null;
}

/** The pod's own threads over all looks, and every thread of the node in D. */
export function threadsFrom(entries: Entries, processes: ProcessTable | null): ThreadFacts {
  const looks = podLooks(entries);
  const swept = lookAt(entries, BLOCKED, 1.5);
  if (looks.length === 0 && swept === null) return { pod: null, node: null };
  const tree = treeOf(entries, looks, processes);
  // The sweep is a look at the pod too: of its own threads it has those in any state.
  const ofTree = swept === null ? null : { ...swept, threads: only(swept, tree), whole: new Set<number>() };
  const all = ofTree === null ? looks : [...looks, ofTree].sort(inTime);
  const make = (course: Course) => threadOf(course, tree, entries);
  const own = coursesOf(all).map(make);
  const others = swept === null ? [] : coursesOf([{ ...swept, threads: without(swept, tree) }]).map(make);
  const inD = own.filter(({ state, moved }) => state === 'D' && moved !== 'moved');
  return {
    pod: entries.plan.target.kind === 'sandbox' && all.length > 0 ? summary(own, looks) : null,
    node: swept === null ? null : { blocked: [...inD, ...others], stacks: coverage([...inD, ...others], hasStack) },
  };
}

function summary(all: readonly Thread[], looks: readonly Look[]): PodThreads {
  const rounds = new Set(looks.flatMap(({ entry }) => POD_LOOK.exec(entry)?.[1] ?? []));
  const waiting = all.filter(({ state }) => state !== 'R' && state !== 'Z');
  return {
    all,
    looks: rounds.size,
    stacks: coverage(waiting, hasStack),
    wchans: coverage(waiting, ({ wchan }) => wchan !== null),
  };
}

const hasStack = ({ stack }: Thread) => stack !== null && stack.length > 0;

function coverage(threads: readonly Thread[], has: (thread: Thread) => boolean): 'all' | 'some' | 'none' {
  const count = threads.filter(has).length;
  return count === threads.length ? 'all' : count > 0 ? 'some' : 'none';
}

function podLooks(entries: Entries): readonly Look[] {
  return entries
    .matching(POD_LOOK)
    .flatMap(path => lookAt(entries, path, Number(POD_LOOK.exec(path)?.[1])) ?? [])
    .sort(inTime);
}

function lookAt(entries: Entries, path: string, order: number): Look | null {
  const text = entries.text(path);
  if (text === null) return null;
  const item = entries.item(path);
  const { threads, processes } = parseThreadDump(text);
  return {
    entry: path,
    order,
    span: item === null ? null : { fromMs: item.offsetMs, toMs: item.offsetMs + item.durationMs },
    threads: new Map(threads.map(thread => [thread.tid, thread])),
    isSweep: path === BLOCKED,
    whole: new Set(processes.filter(({ outcome }) => outcome === 'ok' || outcome === 'gone').map(({ pid }) => pid)),
  };
}

function inTime(a: Look, b: Look): number {
  return a.span !== null && b.span !== null ? a.span.fromMs - b.span.fromMs : a.order - b.order;
}

function threadOf(course: Course, tree: Tree, entries: Entries): Thread {
  const { thread, last, seenIn, since, same, neverRan, gone } = course;
  const syscall = thread.syscall === null ? null : parseSyscall(thread.syscall);
  const pid = thread.pid ?? thread.tid;
  const place = tree.get(pid);
  const wchan = wchanSymbol(thread.wchan);
  const stack = framesOf(thread);
  const moved = gone || (same === 1 && seenIn.length > 1) ? 'moved' : same > 1 ? 'never' : 'once';
  return {
    ...{ pid, tid: thread.tid, comm: thread.comm ?? '?', role: place?.role ?? 'other' },
    container: place?.container ?? null,
    state: thread.state ?? '?',
    wchan,
    call: callOf(syscall, entries.plan.host.architecture),
    inPageFault: syscall?.kind === 'none' && thread.state === 'D',
    stack,
    blockedForMs: blockedFor(course),
    moved,
    unchanged: moved === 'never' ? unchangedIn(thread, neverRan) : [],
    ...{ seen: same, looks: seenIn.length, seenForMs: apart(since, last) },
    inSameCall: { looks: course.inCall, forMs: apart(course.inCallSince, last) },
    idle: isIdle(thread.wchan),
    cites: since === last ? [citeThread(last, thread)] : [citeSince(since, thread), citeThread(last, thread)],
    entry: last.entry,
  };
}

/** At the last look. Of a thread that never ran every look tells it; the least that one of them says is what is certain. */
function blockedFor({ thread, seenIn, same, neverRan, last }: Course): number | null {
  if (thread.blockedForSeconds === null) return null;
  const stood = neverRan ? seenIn.slice(-same) : [last];
  const told = stood.flatMap(look => {
    const seconds = look.threads.get(thread.tid)?.blockedForSeconds ?? null;
    return seconds === null ? [] : [seconds * 1000 + (look === last ? 0 : apart(look, last))];
  });
  // Looks are rounded to a tenth of a second.
  return Math.max(0, Math.round(Math.min(...told) / 100) * 100);
}

function unchangedIn(thread: DumpedThread, neverRan: boolean): readonly string[] {
  return [
    ...(thread.syscall === null ? [] : ['system call and arguments']),
    ...(thread.stack === null ? [] : ['kernel stack']),
    ...(neverRan ? ['no CPU time and no context switch'] : []),
  ];
}

/** From the end of one look to the start of another; looks of a bundle without times are taken to be at one moment. */
function apart(since: Look, last: Look): number {
  if (since.span === null || last.span === null) return 0;
  return Math.max(0, Math.round(last.span.fromMs - since.span.toMs));
}

/** Kernel threads have a call of nothing but zeros. */
function callOf(syscall: ReturnType<typeof parseSyscall> | null, machine: string): Call | null {
  if (syscall?.kind !== 'call' || syscall.sp === '0x0') return null;
  const architecture = architectureOf(machine);
  const name = architecture === null ? null : syscallName(syscall.number, architecture);
  return { name, number: syscall.number, args: syscall.args };
}

/** A block is its heading, the line of the system call, then the stack, one line each (formats/thread-dump.ts). */
function framesOf({ stack, line }: DumpedThread): readonly Frame[] | null {
  if (stack === null) return null;
  return stack.flatMap((raw, index) => {
    const frame = parseFrame(raw);
    return frame === null
      ? []
      : [{ symbol: frame.symbol, module: frame.module, text: frame.text, line: line + 2 + index }];
  });
}

function citeThread(look: Look, thread: DumpedThread): Citation {
  const { tid, comm, state, wchan, blockedForSeconds } = thread;
  const age = blockedForSeconds === null ? '' : ` blocked for ${blockedForSeconds.toFixed(1)}`;
  return cite(look.entry, thread.line, `===== ${tid} ${comm} ${state} ${wchan ?? '?'}${age} =====`);
}

function citeSince(look: Look, { tid }: DumpedThread): Citation {
  const thread = look.threads.get(tid);
  return thread === undefined ? cite(look.entry, null, String(tid)) : citeThread(look, thread);
}
