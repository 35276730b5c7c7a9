/**
 * The heading under which the kernel prints the trace of one task: sched_show_task in kernel/sched/core.c, in the four layouts that
 * kernels from 3.10 to 6.18 have.
 */
export interface KernelTask {
  readonly comm: string;
  readonly pid: number;
  /** Since 6.2. */
  readonly tgid: number | null;
  readonly ppid: number;
  /** `D`, `S`, `R`, `I`. */
  readonly state: string;
}

/**
 * 5.10 and later: `task:sync            state:D stack:0     pid:1365  tgid:1365 ppid:1336   flags:0x00004002`; `task_flags:` since 6.12,
 * `running task` behind the state of a task on a CPU.
 */
const NAMED =
  /^ state:(\S) +(?:running task +)?stack: *\d+ +pid: *(\d+) +(?:tgid: *(\d+) +)?ppid: *(\d+) +(?:task_flags:0x[0-9a-f]+ +)?flags:0x[0-9a-f]+$/;

/**
 * Before: `containerd-shim D    0  4006      1 0x00000000`, and with an address before 4.18 and on el7:
 * `mysqld          D ffff98eb48645280     0 44333  39200 0x00000080`.
 */
const COLUMNS =
  /^([A-Zt?]) +(?:(?:[0-9a-f]{8}|[0-9a-f]{16}|running task) +)?(\d+) +(\d+) +(\d+) +0x(?:[0-9a-f]{8}|[0-9a-f]{16})$/;

/** Names are padded to this many characters, and cut there before 5.x. */
const NAME_WIDTH = 15;

/** More than the kernel prints: a longer line is something else. */
const MAX_LENGTH = 250;

/** Null for any other line. `text` is a kernel message without its prefix. */
export function parseTaskHeading(text: string): KernelTask | null {
  const line = text.trimEnd();
  if (line.length > MAX_LENGTH) return null;
  // The last ` state:` on purpose: a task may be called so.
  const at = line.startsWith('task:') ? line.lastIndexOf(' state:') : -1;
  const [, state, pid, tgid, ppid] = (at >= 0 && NAMED.exec(line.slice(at))) || [];
  if (state !== undefined) {
    return {
      comm: line.slice('task:'.length, at).trimEnd(),
      pid: Number(pid),
      tgid: tgid === undefined ? null : Number(tgid),
      ppid: Number(ppid),
      state,
    };
  }
  const [, letter, , oldPid, oldPpid] = COLUMNS.exec(line.slice(NAME_WIDTH).trimStart()) ?? [];
  if (letter === undefined) return null;
  return {
    comm: line.slice(0, NAME_WIDTH).trimEnd(),
    pid: Number(oldPid),
    tgid: null,
    ppid: Number(oldPpid),
    state: letter,
  };
}
