const LINE = /^([^\s:][^:]*):[ \t]+(\d+)( kB)?[ \t]*$/;

/**
 * /proc/meminfo, and any other file of `Key:   n kB` lines (smaps_rollup, the Vm lines of status): proc_meminfo(5).
 * Sizes come in bytes; a value without unit (HugePages_Total) as it stands. Other lines are left out.
 */
export function parseMeminfo(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, key, digits, unit] = LINE.exec(line) ?? [];
    if (key !== undefined) values.set(key, Number(digits) * (unit === undefined ? 1 : 1024));
  }
  return values;
}
