import type { ProcessLook, ThreadLook } from '../../../src/host/port.ts';
import type { Shim } from '../../../src/sandbox/types.ts';

/** A shim and looks at it, in the very text of /proc, for tests that vary one thing of them. */

const ID = '50c511338bc211a61bd248546818ddf63927f9907e911f557822516309a11b0c';
export const BUNDLE = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${ID}`;
export const EXE = '/usr/bin/containerd-shim-runc-v2';
export const ARGV = [EXE, '-namespace', 'k8s.io', '-id', ID, '-address', '/run/containerd/containerd.sock'] as const;

export const SHIM: Shim = {
  pid: 2430,
  startTicks: '92680',
  generation: 'v2',
  bundle: BUNDLE,
  bundleDeleted: false,
  namespace: 'k8s.io',
  id: ID,
  state: '/run/containerd',
  root: '/var/lib/containerd',
  argv: ARGV,
  exe: EXE,
  address: '/run/containerd/containerd.sock',
  socket: null,
  shimVersion: 2,
};

export interface ThreadText {
  readonly tid?: number;
  readonly state?: string;
  readonly wchan?: string;
  /** Text of the syscall file; by default a parked thread of Go: futex (202 on x86_64, 98 on arm64). */
  readonly syscall?: string;
  readonly stack?: string;
}

const FUTEX = process.arch === 'arm64' ? 98 : 202;

function thread({ tid = 2430, state = 'S', wchan, syscall, stack = '' }: ThreadText = {}): ThreadLook {
  return {
    tid,
    stat: statLine(tid, state, SHIM.startTicks),
    wchan: wchan ?? 'futex_do_wait',
    sched: null,
    syscall: syscall ?? call(FUTEX),
    stack,
    errors: {},
  };
}

/** Text of a syscall file: number, six arguments, stack pointer, program counter. */
export function call(number: number, ...args: readonly string[]): string {
  const six = Array.from({ length: 6 }, (_, index) => args[index] ?? '0x0');
  return `${number} ${six.join(' ')} 0x7ffe12345678 0x46b2a3\n`;
}

export const PAGE_FAULT = '-1 0x7f3f1c0b8d20 0x46b2a3\n';

export interface LookText {
  readonly threads?: readonly ThreadText[];
  readonly state?: string;
  readonly startTicks?: string;
  readonly caught?: string;
  readonly pid?: number;
}

export function look(text: LookText = {}): ProcessLook {
  const { threads = [{}, { tid: 2431 }], state = 'S', startTicks = SHIM.startTicks, caught, pid = SHIM.pid } = text;
  return {
    pid,
    comm: 'containerd-shim',
    status: `Name:\tcontainerd-shim\nState:\t${state} (…)\nThreads:\t${threads.length}\nSigCgt:\t${caught ?? 'fffffffd7fc1feff'}\n`,
    stat: statLine(pid, state, startTicks),
    cwd: BUNDLE,
    threads: threads.map(thread),
    clock: null,
    offsetMs: 0,
    durationMs: 1,
    outcome: 'ok',
  };
}

function statLine(tid: number, state: string, startTicks: string): string {
  return `${tid} (containerd-shim) ${state} 1 2430 1071 0 -1 4194304 2562 4422 0 1 241 77 2 2 20 0 12 0 ${startTicks} 1574313984 3554\n`;
}
