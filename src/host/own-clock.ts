import { type CpuClock, cpuClock, processorOf } from '../formats/proc/cpu-clocks.ts';
import { readText } from './proc-file.ts';

/** The kernel may move this process to another CPU between two reads: then once more. */
const ATTEMPTS = 4;

/** The clock of the CPU that this process runs on. Null on a kernel without /proc/<pid>/sched. */
export function ownClock(): CpuClock | null {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const stat = readText(OWN_STAT).text;
    const sched = readText(OWN_SCHED).text;
    if (stat === null || sched === null) return null;
    const uptime = readText('/proc/uptime').text ?? '';
    if (processorOf(stat) === processorOf(readText(OWN_STAT).text ?? '')) return cpuClock(stat, sched, uptime);
  }
  return null;
}

const OWN_STAT = '/proc/self/stat';
const OWN_SCHED = '/proc/self/sched';
