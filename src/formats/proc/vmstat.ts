/**
 * Files of `key n` lines: /proc/vmstat (pages and events, proc_vmstat(5)), and a cgroup's memory.stat (bytes), cpu.stat,
 * cgroup.events, memory.events, pids.events. Units are the key's own. A number above 2^53 (a v1 limit that is none) loses its last digits.
 */
export function parseVmstat(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, key, digits] = /^(\S+) (-?\d+)$/.exec(line) ?? [];
    if (key !== undefined) values.set(key, Number(digits));
  }
  return values;
}
