import type { ObserverCost } from './port.ts';
import { readText } from './proc-file.ts';

/** sysconf(_SC_CLK_TCK) is 100 on every Linux of today. */
const MS_PER_TICK = 10;

/**
 * What this run costs the node: CPU of this process; CPU of its children, those that ended (counted by the kernel when
 * they were reaped) and those in `livePids`; the largest process of all, by its peak.
 */
export function observerCost(livePids: readonly number[], children: number): ObserverCost {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const own = cpuTicks('/proc/self/stat');
  const live = livePids.map(pid => cpuTicks(`/proc/${pid}/stat`));
  const childTicks = live.reduce((sum, { self, reaped }) => sum + self + reaped, own.reaped);
  return {
    cpuMs: Math.round((userCPUTime + systemCPUTime) / 1000),
    // Not getrusage's maxrss: that is also of whoever started this, from before its execve.
    peakRssBytes: Math.max(...[process.pid, ...livePids].map(peakBytes)),
    childCpuMs: childTicks * MS_PER_TICK,
    children,
  };
}

/** Fields 14 to 17 of proc_pid_stat(5): utime, stime, and those of the children that were waited for. */
function cpuTicks(path: string): { readonly self: number; readonly reaped: number } {
  const text = readText(path).text ?? '';
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3] ?? 0);
  return { self: field(14) + field(15), reaped: field(16) + field(17) };
}

function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readText(`/proc/${pid}/status`).text ?? '')?.[1] ?? 0) * 1024;
}
