import type { CpuClock, CpuClocks } from '../../formats/proc/cpu-clocks.ts';
import { psArgs, psElapsed, psIdWidth, psRow, psState, psWchan } from '../../formats/ps.ts';
import { processLine, threadBlock } from '../../formats/thread-dump.ts';
import { lookAtThread, threadsIn, threadsOf } from '../look.ts';
import { ownClock } from '../own-clock.ts';
import { readText } from '../proc-file.ts';
import type { SweepItem } from './protocol.ts';

/** One process of the sweep: its rows, and the blocks of its threads that matter. */
export interface Swept {
  readonly rows: string;
  readonly blocked: string;
  readonly threads: number;
  readonly blockedThreads: number;
  /** What was not read of it, so as not to hang once more. */
  readonly spared?: 'args' | 'files';
}

const NOTHING: Swept = { rows: '', blocked: '', threads: 0, blockedThreads: 0 };

/** sysconf(_SC_CLK_TCK), the unit of start times: 100 on every Linux of today. */
const TICKS_PER_SECOND = 100;

/** Fields of stat from the third on, up to the vsize, which is the 23rd. */
const FIELDS = 21;

/**
 * Characters of a command line: in the row of a process's first thread, and in those of the others, of which there can be
 * thousands below one command line of 2 MB.
 */
const MOST_ARGS = 16 << 10;
const MOST_ARGS_REPEATED = 512;
/** Of all long ones of a sweep together; the rest are cut as if repeated. A container may start as many as it likes. */
const LONG_ARGS_BUDGET = 8 << 20;

/** What all rows of one sweep share. */
export interface SweepFrame {
  readonly uptimeS: number;
  readonly idWidth: number;
  readonly tree: ReadonlySet<number>;
  readonly clocks: CpuClocks;
  /** Characters that long command lines may still take. */
  longArgsLeft: number;
}

/** What is read once for a whole sweep. */
export function sweepFrame(tree: readonly number[], clocks: readonly CpuClock[]): SweepFrame {
  return {
    uptimeS: Number.parseFloat(readText('/proc/uptime').text ?? '0'),
    idWidth: psIdWidth(readText('/proc/sys/kernel/pid_max').text ?? ''),
    tree: new Set(tree),
    clocks: new Map(clocks.map(clock => [clock.cpu, clock])),
    longArgsLeft: LONG_ARGS_BUDGET,
  };
}

/**
 * Everything that the sweep shows of one process. A process that ended meanwhile has no rows. `alive` is called for each of
 * its threads: ten thousand of them take longer than a probe may be silent.
 */
export function sweepProcess(item: SweepItem, frame: SweepFrame, alive: () => void): Swept {
  const { pid, withoutArgs } = item;
  if (item.withoutFiles !== undefined) {
    const status = readText(`/proc/${pid}/status`).text;
    if (status === null) return NOTHING;
    if (leavesFiles(item, status)) return fromStatus(pid, status, frame);
  }
  const threads = readThreads(pid, alive);
  const living = threads.find(({ vsize }) => vsize !== 0);
  const blockedThreads = threads.filter(({ state }) => state === 'D');
  const withArgs = withoutArgs === undefined || (withoutArgs === 'blocked' && blockedThreads.length === 0);
  // Threads of the kernel and zombies have neither. A leader that has ended has none any more, its threads still do.
  const cmdline = living === undefined || !withArgs ? null : readText(`${living.path}/cmdline`).text;
  const locked = living !== undefined && hasLockedPages(readText(`${living.path}/status`).text ?? '');
  const shown = frame.tree.has(pid) ? threads : blockedThreads;
  return {
    rows: threads.map(thread => rowOf(pid, thread, cmdline, locked, frame)).join(''),
    blocked: blocksOf(pid, shown, frame, alive),
    threads: threads.length,
    blockedThreads: blockedThreads.length,
    ...(living !== undefined && !withArgs ? { spared: 'args' } : {}),
  };
}

/** A process that could be inside execve has one thread. */
function leavesFiles({ withoutFiles }: SweepItem, status: string): boolean {
  if (withoutFiles === 'always') return true;
  return threadsIn(status) < 2 && (withoutFiles === 'single' || stateIn(status) === 'D');
}

/** What a row needs of one thread. */
interface ThreadFacts {
  readonly tid: number;
  /** '/proc/2623/task/2630' */
  readonly path: string;
  readonly comm: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  readonly tpgid: number;
  readonly nice: number;
  /** Of the process. */
  readonly threads: number;
  readonly startTicks: number;
  readonly vsize: number;
  readonly wchan: string | null;
}

function readThreads(pid: number, alive: () => void): readonly ThreadFacts[] {
  let tids: readonly number[];
  try {
    tids = threadsOf(pid);
  } catch {
    return [];
  }
  return tids.flatMap(tid => {
    alive();
    return readThread(pid, tid) ?? [];
  });
}

/** Null when it has ended. Fields by their numbers in proc_pid_stat(5): the state is the third. */
function readThread(pid: number, tid: number): ThreadFacts | null {
  const path = `/proc/${pid}/task/${tid}`;
  const stat = readText(`${path}/stat`).text;
  if (stat === null) return null;
  const wchan = readText(`${path}/wchan`).text;
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ', FIELDS);
  return {
    tid,
    path,
    comm: stat.slice(stat.indexOf('(') + 1, close),
    state: fields[0] ?? '?',
    ppid: Number(fields[4 - 3]),
    pgrp: Number(fields[5 - 3]),
    session: Number(fields[6 - 3]),
    tpgid: Number(fields[8 - 3]),
    nice: Number(fields[19 - 3]),
    threads: Number(fields[20 - 3]),
    startTicks: Number(fields[22 - 3]),
    vsize: Number(fields[23 - 3]),
    wchan,
  };
}

function rowOf(pid: number, thread: ThreadFacts, cmdline: string | null, locked: boolean, frame: SweepFrame): string {
  const { tid, ppid, comm, state, wchan } = thread;
  const long = tid === pid && frame.longArgsLeft > 0;
  const stat = psState({ ...thread, pid, locked });
  const etime = psElapsed(frame.uptimeS - thread.startTicks / TICKS_PER_SECOND);
  const args = psArgs(cmdline, comm, state, long ? MOST_ARGS : MOST_ARGS_REPEATED);
  if (args.length > MOST_ARGS_REPEATED) frame.longArgsLeft -= args.length;
  return psRow({ pid, tid, ppid, stat, wchan: psWchan(wchan), etime, args }, frame.idWidth);
}

function hasLockedPages(status: string): boolean {
  return /^VmLck:\s+[1-9]/m.test(status);
}

/** Below the process's own name, which is that of its first thread: threads may have others. */
function blocksOf(pid: number, threads: readonly ThreadFacts[], { clocks }: SweepFrame, alive: () => void): string {
  if (threads.length === 0) return '';
  const own = ownClock();
  const comm = readText(`/proc/${pid}/comm`).text;
  const blocks = threads.map(({ tid }) => {
    alive();
    return threadBlock(lookAtThread(pid, tid), own, clocks);
  });
  return processLine({ pid, comm, outcome: 'ok' }) + blocks.join('');
}

/** comm and status answer even of a process that is held inside execve; there it has one thread. */
function fromStatus(pid: number, status: string, { idWidth }: SweepFrame): Swept {
  const state = stateIn(status);
  const comm = readText(`/proc/${pid}/comm`).text?.replace(/\n$/, '') ?? '?';
  const rows = psRow(
    {
      pid,
      tid: pid,
      ppid: Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]),
      stat: `${state}${hasLockedPages(status) ? 'L' : ''}${threadsIn(status) > 1 ? 'l' : ''}`,
      wchan: '?',
      etime: '?',
      args: psArgs(null, comm, state),
    },
    idWidth,
  );
  const held = { pid, comm, outcome: 'timeout', detail: 'in D; its other files did not answer' } as const;
  const blocked = state === 'D' ? processLine(held) : '';
  return { rows, blocked, threads: 1, blockedThreads: state === 'D' ? 1 : 0, spared: 'files' };
}

function stateIn(status: string): string {
  return /^State:\s*(\S)/m.exec(status)?.[1] ?? '?';
}
