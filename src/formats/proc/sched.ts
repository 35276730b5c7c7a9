/**
 * /proc/<pid>/sched and /proc/<pid>/task/<tid>/sched: kernel kernel/sched/debug.c proc_sched_show_task. There since
 * 2.6.23 where CONFIG_SCHED_DEBUG is set, and always since 6.15.
 */

/** A rule of dashes parts the name, which may hold line ends, from the values; a name of 15 bytes cannot forge it. */
const RULE = /^-{20,}$/m;

/**
 * When the scheduler last accounted a run of the task, ms of the clock of the CPU that it ran on. Null where the kernel
 * has no such value, and for a task that has never run yet (0).
 */
export function execStartMs(text: string): number | null {
  const body = text.slice(RULE.exec(text)?.index ?? text.length);
  const digits = /^se\.exec_start\s*:\s*(\d+\.\d+)\s*$/m.exec(body)?.[1];
  const ms = Number(digits);
  return digits === undefined || ms === 0 ? null : ms;
}
