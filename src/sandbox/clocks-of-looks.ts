import { type CpuClocks, NO_CLOCKS, processorOf } from '../formats/proc/cpu-clocks.ts';
import type { Deadline, Host, ProcessLook } from '../host/port.ts';

/** The clocks that tell how long the threads of these looks have not run: of their CPUs, but for the sampler's own. */
export async function clocksOf(
  host: Pick<Host, 'cpuClocks'>,
  looks: readonly ProcessLook[],
  deadline: Deadline,
): Promise<CpuClocks> {
  const others = looks.flatMap(({ clock, threads }) =>
    threads.flatMap(({ stat, sched }) => {
      const cpu = clock === null || stat === null || sched === null ? null : processorOf(stat);
      return cpu === null || cpu === clock?.cpu ? [] : [cpu];
    }),
  );
  return others.length === 0 ? NO_CLOCKS : host.cpuClocks(others, deadline);
}
