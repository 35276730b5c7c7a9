/**
 * /proc/<pid>/sched and /proc/<pid>/task/<tid>/sched: kernel kernel/sched/debug.c proc_sched_show_task. There since
 * 2.6.23 where CONFIG_SCHED_DEBUG is set, and always since 6.15.
 */

/** A rule of dashes parts the name, which may hold line ends, from the values; a name of 15 bytes cannot forge it. */
const RULE = /^-{20,}$/m;

/** Names as printed (`se.exec_start`, `nr_switches`) to their digits, unconverted. Empty where the text is none. */
export function parseSched(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const rule = RULE.exec(text);
  if (rule === null) return values;
  for (const line of text.slice(rule.index).split('\n')) {
    const colon = line.lastIndexOf(':');
    if (colon > 0) values.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  return values;
}

/**
 * When the scheduler last accounted a run of the task, ms of its own clock. Null where the kernel has no such value, and
 * for a task that has never run yet (0).
 */
export function execStartMs(text: string): number | null {
  const body = text.slice(RULE.exec(text)?.index ?? text.length);
  const digits = /^se\.exec_start\s*:\s*(\d+\.\d+)\s*$/m.exec(body)?.[1];
  const ms = Number(digits);
  return digits === undefined || ms === 0 ? null : ms;
}

/**
 * For how long a thread has not run: its `se.exec_start` against the sampler's own, read in the same moment. Seconds,
 * never negative (the clocks of two CPUs differ by less than a tick). Null where either value is missing.
 * Measured on 6.18: 20.2 for a thread 20 s in D. A thread that is idle has not run either: the state says which it is.
 */
export function blockedForSeconds(threadSched: string | null, ownSched: string | null): number | null {
  const thread = threadSched === null ? null : execStartMs(threadSched);
  const own = ownSched === null ? null : execStartMs(ownSched);
  return thread === null || own === null ? null : Math.max(0, own - thread) / 1000;
}
