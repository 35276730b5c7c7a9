/**
 * /proc as the lab needs it. Only files that answer while a stall is on: `status` and `comm` of anything;
 * `stat`, `wchan`, `syscall` and `stack` of processes that the lab knows not to be inside an execve.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const text = (path: string): string | null => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
};

/** Rising numbers. */
export const pids = (): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

export interface Status {
  readonly pid: number;
  readonly comm: string;
  /** One letter: R S D T t Z X I. */
  readonly state: string;
  readonly ppid: number;
  readonly threads: number;
}

/** From /proc/<pid>/status, which takes no lock that a stall can hold; null when there is no such process. */
export function status(pid: number): Status | null {
  const lines = text(`/proc/${pid}/status`);
  if (lines === null) return null;
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(lines)?.[1] ?? '';
  return {
    pid,
    comm: field('Name'),
    state: field('State').charAt(0),
    ppid: Number(field('PPid')),
    threads: Number(field('Threads')),
  };
}

/** Field 22 of /proc/<pid>/stat: with the pid, the identity of a process. */
export function startTicks(pid: number): string | null {
  const stat = text(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

/** Runs, sleeps, is stopped or hangs; a zombie does not count. */
export function alive(pid: number): boolean {
  const seen = status(pid);
  return seen !== null && seen.state !== 'Z' && seen.state !== 'X';
}

export interface Thread {
  readonly pid: number;
  readonly tid: number;
  readonly state: string;
  readonly wchan: string;
  /** Number of the system call, -1 outside of one, null when running or gone. */
  readonly syscall: number | null;
  /** Kernel frames, innermost first, without offsets. */
  readonly stack: readonly string[];
}

/** All threads of a process, with what they wait for, in rising order of their numbers (readdir sorts 10000 before 9999). */
export function threads(pid: number): Thread[] {
  let tids: number[];
  try {
    tids = readdirSync(`/proc/${pid}/task`)
      .map(Number)
      .sort((a, b) => a - b);
  } catch {
    return [];
  }
  return tids.map(tid => {
    const at = `/proc/${pid}/task/${tid}`;
    const call = Number.parseInt(text(`${at}/syscall`) ?? '', 10);
    return {
      pid,
      tid,
      state: /^State:\s*(\S)/m.exec(text(`${at}/status`) ?? '')?.[1] ?? 'X',
      wchan: text(`${at}/wchan`) ?? '',
      syscall: Number.isNaN(call) ? null : call,
      stack: (text(`${at}/stack`) ?? '')
        .split('\n')
        .map(line => /\] ([^+\s]+)/.exec(line)?.[1] ?? '')
        .filter(frame => frame !== ''),
    };
  });
}

/** Target of /proc/<pid>/cwd; null when gone or not permitted. */
export function cwd(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** `roots` and everything below them, by parent. */
export function withDescendants(roots: Iterable<number>): Set<number> {
  const all = pids()
    .map(status)
    .filter(seen => seen !== null);
  const found = new Set(roots);
  for (let grew = true; grew; ) {
    grew = false;
    for (const { pid, ppid } of all) {
      if (found.has(pid) || !found.has(ppid)) continue;
      found.add(pid);
      grew = true;
    }
  }
  return found;
}

export interface Mount {
  readonly id: number;
  readonly device: string;
  readonly point: string;
  readonly fstype: string;
  readonly source: string;
}

/** Mounts of this process, in the order of /proc/self/mountinfo (a later one may lie on an earlier one). */
export function mounts(): Mount[] {
  const plain = (word: string) =>
    word.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  return (text('/proc/self/mountinfo') ?? '')
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const [front = '', back = ''] = line.split(' - ');
      const fields = front.split(' ');
      const [fstype = '', source = ''] = back.split(' ');
      return {
        id: Number(fields[0]),
        device: fields[2] ?? '',
        point: plain(fields[4] ?? ''),
        fstype,
        source: plain(source),
      };
    });
}
