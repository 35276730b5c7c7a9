/** The runc that a shim has started and waits for, with all that is known about it. */
import type { Facts, Process, Thread } from './facts.ts';

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

const COMMANDS = [
  'create',
  'start',
  'kill',
  'delete',
  'exec',
  'events',
  'ps',
  'pause',
  'resume',
  'update',
  'state',
  'checkpoint',
];

/** Every runc of the pod in any look: a child of a shim that is not inside of a container. */
export function runcChildren({
  threads,
  processes,
  target,
  shims,
}: Pick<Facts, 'threads' | 'processes' | 'target' | 'shims'>): readonly RuncChild[] {
  const own = threads?.all.filter(({ role }) => role === 'runc') ?? [];
  return [...Map.groupBy(own, ({ pid }) => pid)].map(([pid, of]) => {
    const row = processes?.byPid.get(pid) ?? null;
    const words = row?.args.split(' ') ?? [];
    const below = processes?.children.get(pid)?.map(child => child.pid) ?? [];
    const shimPid = shims?.find(
      shim => shim.children?.some(child => child.pid === pid && child.ppid === shim.pid) === true,
    );
    return {
      ...{ pid, row },
      command: words.find(word => COMMANDS.includes(word)) ?? null,
      container: words.findLast(word => target.ids.has(word)) ?? null,
      shimPid: shimPid?.pid ?? row?.ppid ?? null,
      threads: [...of, ...(threads?.all.filter(thread => below.includes(thread.pid)) ?? [])],
    };
  });
}
