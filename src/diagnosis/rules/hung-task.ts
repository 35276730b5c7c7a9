import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, RUNTIME_COMM, whoIs } from '../blocked.ts';
import { cite } from '../citation.ts';
import type { Facts, KernelEvent } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { sleepsIn } from '../standstill.ts';

/**
 * The kernel's own detector has named a task of the pod, or of containerd (kernel/hung_task.c). It says so ten times in an uptime, and
 * never again unless kernel.hung_task_warnings is raised: silence proves nothing.
 */
export const hungTask = defineRule({
  id: 'hung-task',
  title: 'The kernel reports a task of the pod as hung',
  kind: 'stall',
  needs: ['kernel'],
  *judge(facts) {
    for (const all of reportsByTask(facts.kernel.events).values()) {
      const last = all.at(-1);
      if (last === undefined || !concerns(last, facts)) continue;
      const still = stillHung(last, facts);
      // What was hung once may have gone on: the rule elsewhere tells of it. Without a sweep the kernel's word is all there is.
      if (still !== undefined || !wasSwept(facts)) yield findingOf(last, still, all, facts);
    }
  },
});

/** `comm pid` -> what the kernel said of it, first to last. */
export function reportsByTask(events: readonly KernelEvent[]): ReadonlyMap<string, readonly KernelEvent[]> {
  const reports = events.filter(({ kind, pid }) => kind === 'hung-task' && pid !== null);
  return Map.groupBy(reports, ({ pid, comm }) => `${comm} ${pid}`);
}

/** The thread that it named, if it is in D now. A pid may have been given to somebody else since. */
export function stillHung({ pid, comm }: KernelEvent, facts: Facts): Blocked | undefined {
  return blockedThreads(facts).find(({ thread }) => thread.tid === pid && thread.state === 'D' && thread.comm === comm);
}

/** Whether threads were looked at: without that nobody knows whether one still hangs. */
export const wasSwept = ({ threads, nodeThreads }: Facts) => threads !== null || nodeThreads !== null;

/** Of this pod, or of what it depends on. Tasks of others are told of by the rule elsewhere. */
export function concerns({ ofPod, comm }: KernelEvent, { target }: Pick<Facts, 'target'>): boolean {
  return ofPod || RUNTIME_COMM.test(comm ?? '') || target.target.kind === 'node';
}

function findingOf(last: KernelEvent, still: Blocked | undefined, all: readonly KernelEvent[], facts: Facts): Finding {
  const { pid, comm, trace } = last;
  const frames = trace?.frames.flatMap(({ symbol }) => symbol ?? []) ?? [];
  const place = frames.find(symbol => !/^(?:__)?schedule|^io_schedule/.test(symbol)) ?? null;
  const name = still === undefined ? `${comm} ${pid}` : whoIs(still, facts);
  const times = all.length === 1 ? 'once' : `${all.length} times`;
  const owner = trace?.waitsFor?.owner ?? null;
  return {
    ...ageOf(last, still, facts),
    says: `The kernel has reported ${name} as hung ${times}${place === null ? '' : `, in ${place}`}${still === undefined ? '' : ', and it still is'}.`,
    because: [
      ...all.slice(-2).map(event => event.cite),
      ...(trace === null ? [] : [cite(last.cite.entry, trace.line, frames.slice(0, 8).join(' / '))]),
      ...(still === undefined ? [] : still.thread.cites.slice(-1)),
    ],
    next: [
      `Read the trace below that line in ${last.cite.entry}, innermost first: it says what the task waits for${owner === null ? '' : `; the kernel takes ${owner.comm} ${owner.pid} for the owner of the lock`}.`,
      'For all tasks that hang, and not only the first: `echo w > /proc/sysrq-trigger`, then the kernel log.',
    ],
    links: [
      {
        says: `${comm} ${pid} hung in ${still === undefined ? (place ?? 'D') : (sleepsIn(still.thread) ?? 'D')}, as the kernel says`,
        about: [`thread:${pid ?? 0}`],
        waitsFor: owner === null ? [] : [`thread:${owner.pid}`],
      },
    ],
  };
}

/** By the scheduler's clock where the task was seen; else by the kernel's word at the time of its report. */
function ageOf(
  { time, hungForMs }: KernelEvent,
  still: Blocked | undefined,
  { capture }: Facts,
): Pick<Finding, 'verdict' | 'ageMs' | 'ageFrom'> {
  if (still !== undefined) {
    const { ageMs, ageFrom } = still.stood;
    return { verdict: verdictAt(ageMs, 'proved'), ageMs, ageFrom };
  }
  const ageMs = hungForMs;
  const ago = time === null ? '' : `, ${formatDuration(Math.max(0, capture.startedAt - time))} before the capture`;
  return { verdict: verdictAt(ageMs, 'likely'), ageMs, ageFrom: ageMs === null ? null : `the kernel's report${ago}` };
}
