import { type CpuClock, type CpuClocks, cpuClock } from '../../formats/proc/cpu-clocks.ts';
import { parseCpuList } from '../../formats/proc/cpu-list.ts';
import { monotonicMs } from '../clock.ts';
import type { Deadline } from '../port.ts';
import { askCommand } from './ask-command.ts';
import { filesRequest } from './files-request.ts';
import { ItemsJob } from './items-job.ts';
import type { ProbePool } from './pool.ts';

/** One after another, since each has to have the CPU for itself for a moment; some 2 ms each. */
const SCRIPT =
  'for cpu; do taskset -c "$cpu" cat /proc/self/stat /proc/self/sched /proc/uptime; done 2>/dev/null; exit 0';

/** What `cat` says of itself. */
const ANSWER = /^(\d+ \(.*\) [A-Z] .*)\n([\s\S]*?\n)(\d+\.\d+ \d+\.\d+)$/gm;

/** A node has more, but the threads of one pod are seldom on more. */
const MOST_CPUS = 64;

/**
 * CPUs that were set aside for a workload (isolcpus=, nohz_full=): a program of ours there would take a moment from it, or
 * never get one where it spins at real-time priority. Documentation/ABI/testing/sysfs-devices-system-cpu.
 */
const SET_ASIDE = ['isolated', 'nohz_full'].map(name => ({ path: `/sys/devices/system/cpu/${name}` }));
const SET_ASIDE_MS = 300;
const NONE: ReadonlySet<number> = new Set();

/** Clocks of two CPUs part by parts of a second per second, on the busiest of nodes. */
const FRESH_MS = 5000;

/** Reads the clocks of CPUs other than ours, and remembers them for a while. */
export class CpuClockReader {
  readonly #known = new Map<number, { readonly clock: CpuClock; readonly readMs: number }>();
  readonly #pool: ProbePool;
  #setAside: Promise<ReadonlySet<number>> | undefined;

  constructor(pool: ProbePool) {
    this.#pool = pool;
  }

  async read(cpus: readonly number[], { deadlineMs, signal }: Deadline): Promise<CpuClocks> {
    const beganMs = monotonicMs();
    const stale = beganMs - FRESH_MS;
    const unknown = [...new Set(cpus)].filter(cpu => (this.#known.get(cpu)?.readMs ?? 0) <= stale);
    const setAside = unknown.length === 0 ? NONE : await this.#cpusSetAside(deadlineMs);
    const wanted = unknown.filter(cpu => !setAside.has(cpu)).slice(0, MOST_CPUS);
    if (wanted.length > 0) {
      const argv = ['sh', '-c', SCRIPT, 'sh', ...wanted.map(String)];
      const { stdout } = await askCommand(this.#pool, {
        ...{ argv, timeoutMs: Math.max(1, beganMs + deadlineMs - monotonicMs()) },
        ...(signal === undefined ? {} : { signal }),
      });
      for (const clock of clocksIn(stdout.toString('latin1'))) {
        this.#known.set(clock.cpu, { clock, readMs: monotonicMs() });
      }
    }
    const fresh = [...this.#known.values()].filter(({ readMs }) => readMs > stale);
    return new Map(fresh.map(({ clock }) => [clock.cpu, clock]));
  }

  /** Read once: it is said at boot. */
  #cpusSetAside(deadlineMs: number): Promise<ReadonlySet<number>> {
    this.#setAside ??= this.#readSetAside(Math.min(deadlineMs, SET_ASIDE_MS));
    return this.#setAside;
  }

  async #readSetAside(deadlineMs: number): Promise<ReadonlySet<number>> {
    const job = new ItemsJob(filesRequest, SET_ASIDE);
    await this.#pool.run(job, { deadlineMs });
    return new Set(job.results.flatMap(file => [...parseCpuList(file?.body.toString('latin1') ?? '')]));
  }
}

function clocksIn(text: string): readonly CpuClock[] {
  return [...text.matchAll(ANSWER)].flatMap(([, stat = '', sched = '', uptime = '']) => {
    const clock = cpuClock(stat, sched, uptime);
    return clock === null ? [] : [clock];
  });
}
