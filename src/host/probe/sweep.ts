import { readdirSync } from 'node:fs';
import { psArgs, psElapsed, psIdWidth, psRow, psState, psWchan } from '../../formats/ps.ts';
import { threadBlock } from '../../formats/thread-dump.ts';
import { lookAtThread } from '../look.ts';
import { readText } from '../proc-file.ts';
import type { SweepItem } from './protocol.ts';

/** One process of the sweep: its rows, and the blocks of its threads that matter. */
export interface Swept {
  readonly rows: string;
  readonly blocked: string;
  readonly threads: number;
  readonly blockedThreads: number;
}

const NOTHING: Swept = { rows: '', blocked: '', threads: 0, blockedThreads: 0 };

/** sysconf(_SC_CLK_TCK), the unit of start times: 100 on every Linux of today. */
const TICKS_PER_SECOND = 100;

/** What all rows of one sweep share. */
export interface SweepFrame {
  readonly uptimeS: number;
  readonly idWidth: number;
  readonly tree: ReadonlySet<number>;
}

export function sweepFrame(tree: readonly number[]): SweepFrame {
  return {
    uptimeS: Number.parseFloat(readText('/proc/uptime').text ?? '0'),
    idWidth: psIdWidth(readText('/proc/sys/kernel/pid_max').text ?? ''),
    tree: new Set(tree),
  };
}

/** Everything that the sweep shows of one process. A process that ended meanwhile has no rows. */
export function sweepProcess({ pid, without }: SweepItem, frame: SweepFrame): Swept {
  if (without === 'all') return fromStatus(pid, frame);
  let tids: string[];
  try {
    tids = readdirSync(`/proc/${pid}/task`);
  } catch {
    return NOTHING;
  }
  // readdir of node sorts as text; most processes have one thread.
  if (tids.length > 1) tids.sort((a, b) => Number(a) - Number(b));
  const process = new ProcessRows(pid, without === undefined, frame);
  for (const tid of tids) process.add(tid);
  return process.swept();
}

/** The rows of one process. Its cmdline and locked pages are read once, and not at all for threads of the kernel. */
class ProcessRows {
  readonly #pid: number;
  readonly #frame: SweepFrame;
  readonly #withArgs: boolean;
  #read = false;
  #rows = '';
  #blocked = '';
  #threads = 0;
  #blockedThreads = 0;
  #cmdline: string | null = null;
  #locked = false;

  constructor(pid: number, withArgs: boolean, frame: SweepFrame) {
    this.#pid = pid;
    this.#withArgs = withArgs;
    this.#frame = frame;
  }

  add(tid: string): void {
    const task = `/proc/${this.#pid}/task/${tid}`;
    const stat = readText(`${task}/stat`).text;
    if (stat === null) return;
    const wchan = readText(`${task}/wchan`).text;
    const close = stat.lastIndexOf(')');
    const fields = stat.slice(close + 2).split(' ');
    const state = fields[0] ?? '?';
    const comm = stat.slice(stat.indexOf('(') + 1, close);
    /** By the number that proc_pid_stat(5) gives the field. */
    const field = (number: number) => Number(fields[number - 3]);
    const vsize = field(23);
    if (!this.#read && vsize !== 0) this.#readProcess(task);

    this.#rows += psRow(
      {
        pid: this.#pid,
        tid: Number(tid),
        ppid: field(4),
        stat: psState({
          state,
          nice: field(19),
          pid: this.#pid,
          session: field(6),
          pgrp: field(5),
          tpgid: field(8),
          threads: field(20),
          locked: this.#locked,
        }),
        wchan: psWchan(wchan),
        etime: psElapsed(this.#frame.uptimeS - field(22) / TICKS_PER_SECOND),
        args: psArgs(this.#cmdline, comm, state),
      },
      this.#frame.idWidth,
    );
    this.#threads += 1;
    if (state === 'D') this.#blockedThreads += 1;
    if (state === 'D' || this.#frame.tree.has(this.#pid)) this.#blocked += blockOf(this.#pid, Number(tid));
  }

  swept(): Swept {
    return { rows: this.#rows, blocked: this.#blocked, threads: this.#threads, blockedThreads: this.#blockedThreads };
  }

  /** Through the first thread that lives: a leader that has ended has no address space any more. */
  #readProcess(task: string): void {
    this.#read = true;
    if (this.#withArgs) this.#cmdline = readText(`${task}/cmdline`).text;
    this.#locked = /^VmLck:\s+[1-9]/m.test(readText(`${task}/status`).text ?? '');
  }
}

function blockOf(pid: number, tid: number): string {
  const ownSched = readText('/proc/self/sched').text;
  return threadBlock(lookAtThread(pid, tid), ownSched);
}

/** comm and status answer even of a process that is held inside execve; there it has one thread. */
function fromStatus(pid: number, { idWidth }: SweepFrame): Swept {
  const status = readText(`/proc/${pid}/status`).text;
  if (status === null) return NOTHING;
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
  const state = field('State').slice(0, 1);
  const comm = readText(`/proc/${pid}/comm`).text?.replace(/\n$/, '') ?? field('Name');
  const rows = psRow(
    {
      pid,
      tid: pid,
      ppid: Number(field('PPid')),
      stat: `${state}${/^VmLck:\s+[1-9]/m.test(status) ? 'L' : ''}${Number(field('Threads')) > 1 ? 'l' : ''}`,
      wchan: '?',
      etime: '?',
      args: psArgs(null, comm, state),
    },
    idWidth,
  );
  return { rows, blocked: '', threads: 1, blockedThreads: state === 'D' ? 1 : 0 };
}
