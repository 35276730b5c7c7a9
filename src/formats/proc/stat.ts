/**
 * One line of /proc/<pid>/stat or /proc/<pid>/task/<tid>/stat: proc_pid_stat(5), kernel fs/proc/array.c do_task_stat.
 * Times are clock ticks (1/100 s wherever sysconf(_SC_CLK_TCK) is 100: every Linux of today).
 */
export interface Stat {
  readonly pid: number;
  /** As the kernel has it: may hold spaces, parentheses, line ends. 15 bytes, for kernel threads up to 63. */
  readonly comm: string;
  /** One letter: R S D T t Z X I P (proc_pid_stat(5); P and I since 4.14). */
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  readonly flags: number;
  readonly minorFaults: number;
  readonly majorFaults: number;
  readonly utime: number;
  readonly stime: number;
  readonly childUtime: number;
  readonly childStime: number;
  readonly priority: number;
  readonly nice: number;
  readonly threads: number;
  /** Ticks since boot. With the pid the identity of a process, hence the exact digits. */
  readonly startTicks: string;
  readonly vsizeBytes: number;
  readonly rssPages: number;
  /** CPU it last ran on; null where the line is shorter than that (before 2.2.8, or cut). */
  readonly processor: number | null;
  /** Ticks spent waiting for block I/O, where delay accounting is on (sysctl kernel.task_delayacct); else 0 or null. */
  readonly blkioDelayTicks: number | null;
}

/** Null when the text is no such line: no name in parentheses, or cut before the start time (field 22). */
export function parseStat(text: string): Stat | null {
  const open = text.indexOf('(');
  // The last ')' on purpose: a process may be called `a) S 1 (b`, and no field after the name can hold one.
  const close = text.lastIndexOf(')');
  if (open < 1 || close < open) return null;
  const pid = Number(text.slice(0, open));
  const rest = text
    .slice(close + 2)
    .trimEnd()
    .split(' ');
  const startTicks = rest[19];
  if (!Number.isInteger(pid) || rest[0]?.length !== 1 || startTicks === undefined || !/^\d+$/.test(startTicks)) {
    return null;
  }
  /** By the number that the man page gives the field; the state is field 3. */
  const field = (number: number) => Number(rest[number - 3] ?? Number.NaN);
  const optional = (number: number) => (rest[number - 3] === undefined ? null : field(number));
  return {
    pid,
    comm: text.slice(open + 1, close),
    state: rest[0],
    ppid: field(4),
    pgrp: field(5),
    session: field(6),
    flags: field(9),
    minorFaults: field(10),
    majorFaults: field(12),
    utime: field(14),
    stime: field(15),
    childUtime: field(16),
    childStime: field(17),
    priority: field(18),
    nice: field(19),
    threads: field(20),
    startTicks,
    vsizeBytes: field(23),
    rssPages: field(24),
    processor: optional(39),
    blkioDelayTicks: optional(42),
  };
}
