import { numbersIn, threadsIn } from '../look.ts';
import { readText } from '../proc-file.ts';

/** Pids below a process, itself not included. `children` needs CONFIG_PROC_CHILDREN; without it there are none. */
function descendantsOf(pid: number): readonly number[] {
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

/** All below a process, as `pid comm state wchan`. A child with one thread may be inside execve: of it, the wait channel stays unread. */
export function childrenOf(pid: number): readonly string[] {
  return descendantsOf(pid).map(child => {
    const comm = readText(`/proc/${child}/comm`).text?.trimEnd() ?? '?';
    const status = readText(`/proc/${child}/status`).text ?? '';
    const state = /^State:\s*(\S)/m.exec(status)?.[1] ?? '?';
    const wchan = threadsIn(status) < 2 ? '-' : (readText(`/proc/${child}/wchan`).text ?? '?');
    return `${child} ${comm} ${state} ${wchan}`;
  });
}

/** SIGKILL to all below a process: commands of ours, and what they started. */
export function killDescendantsOf(pid: number): void {
  for (const child of descendantsOf(pid)) {
    try {
      process.kill(child, 'SIGKILL');
    } catch {
      // Gone in this moment.
    }
  }
}
