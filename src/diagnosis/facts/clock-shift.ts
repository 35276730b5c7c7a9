/**
 * The scheduler's clock, which `blocked for` is read from, is one per CPU (formats/proc/cpu-clocks.ts). A capture reads each thread by
 * the clock of its own CPU, seconds apart from the thread; a hypervisor that takes much of one CPU in that time bends it all the same,
 * and other bundles were read by one clock for all. What the looks themselves tell of that is taken off here.
 */
import { isSamePlace, type Look, secondsBetween } from './look.ts';

/** Threads that did not run agree to this. */
const AGREE_S = 0.2;

/**
 * By how many seconds `blocked for` of threads that did not run grew less than time did, from one look to the next: the same for all of
 * them, whatever CPU they are on, since only the sampler's has changed. Null when no three threads agree.
 */
export function clockShift(earlier: Look, later: Look): number | null {
  const between = secondsBetween(earlier, later);
  if (between === null) return null;
  const shifts = [...later.threads].flatMap(([tid, after]) => {
    const before = earlier.threads.get(tid);
    if (before === undefined || !isSamePlace(before, after)) return [];
    if (before.blockedForSeconds === null || after.blockedForSeconds === null) return [];
    return [between.seconds - (after.blockedForSeconds - before.blockedForSeconds)];
  });
  const agreeing = (shift: number) => shifts.filter(other => Math.abs(other - shift) <= AGREE_S).length;
  const [best] = shifts.toSorted((a, b) => agreeing(b) - agreeing(a));
  return best === undefined || agreeing(best) < 3 ? null : best;
}

/**
 * By how many seconds the clock exaggerates at least: a thread that stood elsewhere in the look before has run since, so it cannot have
 * been blocked for longer than the time between the two. 0 where nothing shows it.
 */
export function clockExcess(looks: readonly Look[]): number {
  let most = 0;
  for (const [index, later] of looks.entries()) {
    const earlier = looks
      .slice(0, index)
      .findLast(look => [...look.threads.keys()].some(tid => later.threads.has(tid)));
    const between = earlier === undefined ? null : secondsBetween(earlier, later);
    if (earlier === undefined || between === null) continue;
    for (const [tid, after] of later.threads) {
      const before = earlier.threads.get(tid);
      if (before === undefined || after.blockedForSeconds === null || before.syscall === after.syscall) continue;
      most = Math.max(most, after.blockedForSeconds - between.seconds - between.uncertain - AGREE_S);
    }
  }
  return most;
}
