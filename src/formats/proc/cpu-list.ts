/** Numbers of CPUs that a list may name at most: NR_CPUS of the largest kernels. */
const MOST = 8192;

/** A list of CPUs as the kernel prints it, `0-3,8`: lib/bitmap.c, %*pbl. Empty for an empty one, and for ` (null)`. */
export function parseCpuList(text: string): ReadonlySet<number> {
  const cpus = new Set<number>();
  for (const part of text.trim().split(',')) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    for (let cpu = Number(first); cpu <= Number(last) && cpus.size < MOST; cpu += 1) cpus.add(cpu);
  }
  return cpus;
}
