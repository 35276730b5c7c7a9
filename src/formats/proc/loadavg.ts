/** /proc/loadavg: proc_loadavg(5). Load counts tasks in D as well as those that run. */
export interface LoadAverage {
  readonly one: number;
  readonly five: number;
  readonly fifteen: number;
  readonly runnable: number;
  /** Threads on the node. */
  readonly total: number;
  readonly lastPid: number;
}

export function parseLoadavg(text: string): LoadAverage | null {
  const words = /^([\d.]+) ([\d.]+) ([\d.]+) (\d+)\/(\d+) (\d+)$/.exec(text.trim());
  if (words === null) return null;
  const at = (index: number) => Number(words[index]);
  return { one: at(1), five: at(2), fifteen: at(3), runnable: at(4), total: at(5), lastPid: at(6) };
}
