import type { ProcessLook, ThreadLook } from '../../src/host/port.ts';

export interface FakeThread {
  readonly tid?: number;
  readonly state?: string;
  readonly wchan?: string | null;
  /** Seconds since it ran; null: a kernel without /proc/<pid>/sched. */
  readonly since?: number | null;
  readonly syscall?: string;
  readonly stack?: string | null;
}

/** The sampler's clock, ms. */
const OWN_MS = 10_000_000;

/** A look as the kernel of 6.18 would have given it. */
export function lookOf(pid: number, comm: string, threads: readonly FakeThread[]): ProcessLook {
  return {
    pid,
    comm,
    status: `Name:\t${comm}\nPid:\t${pid}\nThreads:\t${Math.max(threads.length, 2)}\n`,
    stat: statOf(pid, comm, 'S', pid),
    cwd: null,
    threads: threads.map((thread, index) => threadOf(thread, pid, pid + index, comm)),
    clock: { cpu: 0, clockMs: OWN_MS, uptimeMs: OWN_MS },
    offsetMs: 0,
    durationMs: 0,
    outcome: 'ok',
  };
}

function threadOf(thread: FakeThread, pid: number, tid: number, comm: string): ThreadLook {
  const {
    state = 'S',
    wchan = 'futex_do_wait',
    since = 0,
    syscall = '202 0x1 0x80 0x0 0x0 0x0 0x0 0x7f 0x7e',
    stack = null,
  } = thread;
  return {
    tid: thread.tid ?? tid,
    stat: statOf(tid, comm, state, pid),
    wchan,
    sched: since === null ? null : schedOf(comm, OWN_MS - since * 1000),
    syscall,
    stack,
    errors: {},
  };
}

/** Started at ten times its pid, as MemoryHost has it. */
function statOf(id: number, comm: string, state: string, pid: number): string {
  return `${id} (${comm}) ${state} 1 ${'0 '.repeat(15)}12 0 ${pid * 10} ${'0 '.repeat(30)}`;
}

function schedOf(comm: string, ms: number): string {
  const rule = '-'.repeat(67);
  return `${comm} (1, #threads: 1)\n${rule}\nse.exec_start                                :    ${ms.toFixed(6)}\n`;
}
