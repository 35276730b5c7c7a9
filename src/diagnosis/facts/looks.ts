/** Threads over several looks: which of them stood where they stand. */
import type { DumpedThread } from '../../formats/thread-dump.ts';

/** All threads of one or more processes at one moment. */
export interface Look {
  readonly entry: string;
  /** Order among the looks of a bundle without a manifest. */
  readonly order: number;
  /** ms since the start of the capture, of the first and the last read; null without a manifest. */
  readonly span: { readonly fromMs: number; readonly toMs: number } | null;
  readonly threads: ReadonlyMap<number, DumpedThread>;
  /** Processes of which this look would show every thread: one that is not in it is gone. */
  readonly whole: ReadonlySet<number>;
}

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
  /** A later look at its process does not have it any more. */
  readonly gone: boolean;
}

/** Every thread of the looks, which are in order of time. */
export function coursesOf(looks: readonly Look[]): readonly Course[] {
  const tids = new Set(looks.flatMap(look => [...look.threads.keys()]));
  return [...tids].flatMap(tid => courseOf(tid, looks) ?? []);
}

function courseOf(tid: number, looks: readonly Look[]): Course | null {
  const seenIn = looks.filter(look => look.threads.has(tid));
  const last = seenIn.at(-1);
  const thread = last?.threads.get(tid);
  if (last === undefined || thread === undefined) return null;
  let since = last;
  let same = 1;
  let neverRan = true;
  for (let index = seenIn.length - 2; index >= 0; index -= 1) {
    const [earlier, later] = [seenIn[index] as Look, seenIn[index + 1] as Look];
    const between = compare(earlier, later, tid);
    if (between === 'moved') break;
    if (between === 'unknown') neverRan = false;
    since = earlier;
    same += 1;
  }
  const lastAt = looks.indexOf(last);
  const gone = looks.some((look, index) => index > lastAt && look.whole.has(thread.pid ?? tid));
  return { last, thread, seenIn, since, same, neverRan: neverRan && same > 1, gone };
}

/** Rounding of `blocked for`, and of the moment inside of a look at which a thread was read. */
const SLACK_S = 0.25;

/**
 * - `stood`: the same call, arguments and stack, and the scheduler says that it has not run
 * - `unknown`: the same, but the kernel has no such clock, or the bundle no times
 * - `moved`: anything else
 */
function compare(earlier: Look, later: Look, tid: number): 'stood' | 'unknown' | 'moved' {
  const [a, b] = [earlier.threads.get(tid), later.threads.get(tid)];
  if (a === undefined || b === undefined || a.pid !== b.pid) return 'moved';
  if (a.state !== b.state || a.syscall !== b.syscall) return 'moved';
  if ((a.stack ?? []).join('\n') !== (b.stack ?? []).join('\n')) return 'moved';
  const [before, after] = [a.blockedForSeconds, b.blockedForSeconds];
  if (before === null || after === null) return 'unknown';
  if (earlier.span === null || later.span === null) return after >= before ? 'unknown' : 'moved';
  // It stood since before the earlier look, so it has been blocked for at least the time between the two.
  const betweenS = Math.max(0, later.span.fromMs - earlier.span.toMs) / 1000;
  return after + SLACK_S >= betweenS && after + SLACK_S >= before ? 'stood' : 'moved';
}
