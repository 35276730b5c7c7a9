/**
 * The clock that `se.exec_start` is a reading of: kernel/sched/core.c update_rq_clock_task. Each CPU has its own, which
 * leaves out the time that interrupts (CONFIG_IRQ_TIME_ACCOUNTING) and the hypervisor (steal) took from that CPU. So two
 * CPUs drift apart for as long as the node is up: 3.6 s after three hours were measured on a virtual machine. A reading can
 * only be compared to another one of the same CPU.
 */
import { execStartMs } from './sched.ts';
import { parseStat } from './stat.ts';

/** A reading of one CPU's clock. */
export interface CpuClock {
  readonly cpu: number;
  /** ms, as `se.exec_start` counts. */
  readonly clockMs: number;
  /** When it was read: ms of /proc/uptime, which all CPUs share. */
  readonly uptimeMs: number;
}

/** By number of the CPU. */
export type CpuClocks = ReadonlyMap<number, CpuClock>;

export const NO_CLOCKS: CpuClocks = new Map();

/** Texts of a task's stat and sched files, read while it ran, and of /proc/uptime. Null where one of them does not tell. */
export function cpuClock(stat: string, sched: string, uptime: string): CpuClock | null {
  const cpu = processorOf(stat);
  const clockMs = execStartMs(sched);
  const uptimeMs = Number.parseFloat(uptime) * 1000;
  return cpu === null || clockMs === null || Number.isNaN(uptimeMs) ? null : { cpu, clockMs, uptimeMs };
}

/** The CPU that a task runs on, or ran on last. */
export function processorOf(stat: string): number | null {
  return parseStat(stat)?.processor ?? null;
}

/** Texts of one thread's files. */
interface ThreadFiles {
  readonly stat: string | null;
  readonly sched: string | null;
}

/**
 * For how long a thread has not run, seconds, never negative. Null where a value is missing, or the clock of its CPU is
 * not known. A thread that is idle has not run either: the state says which it is.
 *
 * @param own the sampler's own clock, read just before the thread: the moment that is meant
 * @param clocks of the other CPUs, read within seconds of it
 */
export function blockedForSeconds(
  { stat, sched }: ThreadFiles,
  own: CpuClock | null,
  clocks: CpuClocks,
): number | null {
  if (stat === null || sched === null || own === null) return null;
  const cpu = processorOf(stat);
  const ranMs = execStartMs(sched);
  const clock = cpu === own.cpu ? own : clocks.get(cpu ?? -1);
  if (ranMs === null || clock === undefined) return null;
  const nowMs = clock.clockMs + (own.uptimeMs - clock.uptimeMs);
  return Math.max(0, nowMs - ranMs) / 1000;
}
