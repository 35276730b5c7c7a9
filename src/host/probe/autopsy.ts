import { readdirSync, readlinkSync } from 'node:fs';
import { lookAtThread, numbersIn, threadsIn } from '../look.ts';
import type { StuckProbe } from '../port.ts';
import { readText } from '../proc-file.ts';

/** What the files of a silent probe say. It is ours and past exec, so none of them can hang; see safe-read.ts. */
export type Findings = Pick<StuckProbe, 'state' | 'wchan' | 'syscall' | 'stack' | 'fds' | 'children'> & {
  /** Its name, by which it tells the item that it is at. */
  readonly comm: string;
};

/** Where a probe hangs. `ready`: it has said so itself; of one that has not, only comm and status are read. */
export function autopsy(pid: number, ready: boolean): Findings {
  const comm = readText(`/proc/${pid}/comm`).text?.trimEnd() ?? '';
  const status = readText(`/proc/${pid}/status`).text ?? '';
  const state = /^State:\s*(\S)/m.exec(status)?.[1] ?? null;
  if (!ready || threadsIn(status) < 2) {
    return { comm, state, wchan: null, syscall: null, stack: null, fds: [], children: childrenOf(pid) };
  }
  // Requests are answered in the main thread.
  const { wchan, syscall, stack } = lookAtThread(pid, pid);
  return { comm, state, wchan, syscall: syscall?.trimEnd() ?? null, stack, fds: fdsOf(pid), children: childrenOf(pid) };
}

function fdsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(fd => `${fd} -> ${linkOf(`/proc/${pid}/fd/${fd}`)}`);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '?';
  }
}

/** Pids below a process, itself not included. `children` needs CONFIG_PROC_CHILDREN; without it there are none. */
export function descendantsOf(pid: number): readonly number[] {
  const children = directChildrenOf(pid);
  return children.flatMap(child => [child, ...descendantsOf(child)]);
}

function directChildrenOf(pid: number): readonly number[] {
  try {
    return numbersIn(`/proc/${pid}/task`)
      .flatMap(tid => readText(`/proc/${pid}/task/${tid}/children`).text?.trim().split(' ') ?? [])
      .filter(text => text !== '')
      .map(Number);
  } catch {
    return [];
  }
}

/** `pid comm state wchan`. A child with one thread may be inside execve: of it, the wait channel stays unread. */
function childrenOf(pid: number): readonly string[] {
  return descendantsOf(pid).map(child => {
    const comm = readText(`/proc/${child}/comm`).text?.trimEnd() ?? '?';
    const status = readText(`/proc/${child}/status`).text ?? '';
    const state = /^State:\s*(\S)/m.exec(status)?.[1] ?? '?';
    const wchan = threadsIn(status) < 2 ? '-' : (readText(`/proc/${child}/wchan`).text ?? '?');
    return `${child} ${comm} ${state} ${wchan}`;
  });
}
