/** Threads over several looks: which of them stood where they stand. */
import type { DumpedThread } from '../../formats/thread-dump.ts';
import { isSameCall, isSamePlace, type Look, secondsBetween } from './look.ts';

export interface Course {
  /** Its last look. */
  readonly last: Look;
  readonly thread: DumpedThread;
  /** The looks in which it was, first to last. */
  readonly seenIn: readonly Look[];
  /** The first look from which on it stood as in the last one. */
  readonly since: Look;
  /** Looks from `since` on. */
  readonly same: number;
  /** In every pair of these looks the scheduler's clock says that it did not run in between; false where it cannot say. */
  readonly neverRan: boolean;
  /** The first look from which on it was in the same call, by arguments and stack pointer, whether it ran in between or not. */
  readonly inCallSince: Look;
  /** Looks from `inCallSince` on. */
  readonly inCall: number;
  /** A later look at its process does not have it any more. */
  readonly gone: boolean;
}

/** Every thread of the looks, which are in order of time. */
export function coursesOf(looks: readonly Look[]): readonly Course[] {
  const tids = new Set(looks.flatMap(look => [...look.threads.keys()]));
  return [...tids].flatMap(tid => courseOf(tid, looks) ?? []);
}

function courseOf(tid: number, looks: readonly Look[]): Course | null {
  const all = looks.filter(look => look.threads.has(tid));
  const closer = all.filter(({ isSweep }) => !isSweep);
  const seenIn = closer.length > 1 ? closer : all;
  const last = seenIn.at(-1);
  const thread = last?.threads.get(tid);
  if (last === undefined || thread === undefined) return null;
  let [since, same, inCallSince, inCall, neverRan] = [last, 1, last, 1, true];
  for (let index = seenIn.length - 2; index >= 0; index -= 1) {
    const [earlier, later] = [seenIn[index] as Look, seenIn[index + 1] as Look];
    if (!isSameCall(earlier.threads.get(tid), later.threads.get(tid))) break;
    inCallSince = earlier;
    inCall += 1;
    if (same + 1 < inCall) continue;
    const between = compare(earlier, later, tid);
    if (between === 'moved') continue;
    if (between === 'unknown') neverRan = false;
    since = earlier;
    same += 1;
  }
  const lastAt = looks.indexOf(last);
  const gone = looks.some((look, index) => index > lastAt && look.whole.has(thread.pid ?? tid));
  return { last, thread, seenIn, since, same, neverRan: neverRan && same > 1, inCallSince, inCall, gone };
}

/** `blocked for` is rounded to a tenth of a second. */
const ROUNDING_S = 0.2;

/**
 * The clock that `blocked for` is read from leaves out what a hypervisor took from its CPU (formats/proc/cpu-clocks.ts), and is read up to
 * five seconds from the thread: where half of a CPU was taken, a thread that stood looks older, and younger in the next look, by this.
 */
const BENT_S = 2.5;

/**
 * - `stood`: the same call, arguments and stack, and the scheduler says that it has not run
 * - `unknown`: the same, but the kernel has no such clock, or the bundle no times, or the clock says nothing certain
 * - `moved`: anything else. A reader in a loop is in the same call with the same stack in every look, and has run in between
 */
function compare(earlier: Look, later: Look, tid: number): 'stood' | 'unknown' | 'moved' {
  const [a, b] = [earlier.threads.get(tid), later.threads.get(tid)];
  if (a === undefined || b === undefined || !isSamePlace(a, b)) return 'moved';
  const [before, after] = [a.blockedForSeconds, b.blockedForSeconds];
  const between = secondsBetween(earlier, later);
  if (before === null || after === null || between === null) return 'unknown';
  const slack = ROUNDING_S + between.uncertain;
  const late = between.seconds - (after - before);
  if (Math.abs(late) <= slack) return 'stood';
  return after + slack < between.seconds || late > BENT_S + slack ? 'moved' : 'unknown';
}
