/**
 * /proc/pressure/{cpu,memory,io,irq} and a cgroup's {cpu,memory,io}.pressure: kernel Documentation/accounting/psi.rst,
 * since 4.20. cpu has no `full` line before 5.13, irq has no `some` line.
 */
export interface PressureLine {
  /** Per cent of the last 10, 60 and 300 seconds in which tasks waited. */
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  /** Microseconds since boot, or since the cgroup was made. */
  readonly totalUs: number;
}

export interface Pressure {
  /** At least one task waited. */
  readonly some: PressureLine | null;
  /** All tasks that were not idle waited: nothing got done. */
  readonly full: PressureLine | null;
}

const LINE = /^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm;

/** Both null for a text that is none, such as that of a kernel started with psi=0. */
export function parsePressure(text: string): Pressure {
  const lines: { some: PressureLine | null; full: PressureLine | null } = { some: null, full: null };
  for (const [, kind, avg10, avg60, avg300, total] of text.matchAll(LINE)) {
    lines[kind === 'full' ? 'full' : 'some'] = {
      avg10: Number(avg10),
      avg60: Number(avg60),
      avg300: Number(avg300),
      totalUs: Number(total),
    };
  }
  return lines;
}
