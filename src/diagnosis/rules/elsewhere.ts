import { formatDuration } from '../../formats/duration.ts';
import { blockedThreads } from '../blocked.ts';
import type { Facts } from '../facts.ts';
import { defineRule, type Finding } from '../rule.ts';
import { concerns, reportsByTask, stillHung, wasSwept } from './hung-task.ts';
import { hungReads, isOfPod } from './mmap-lock.ts';
import { oomKills } from './oom.ts';

/** What happened to others on this node, or is over: worth knowing, and no reason to blame them or this pod. */
export const elsewhere = defineRule({
  id: 'elsewhere',
  title: 'Trouble of others on this node, or before this capture',
  kind: 'context',
  needs: [],
  needsOneOf: ['kernel', 'processes'],
  *judge(facts) {
    yield* hungTasks(facts);
    yield* oomOfOthers(facts);
    yield* unreadable(facts);
  },
});

function mention(says: string, rest: Pick<Finding, 'because' | 'next'>): Finding {
  return { verdict: 'possible', says, ...rest, ageMs: null, ageFrom: null, links: [] };
}

function* hungTasks(facts: Facts): Iterable<Finding> {
  const reports = [...reportsByTask(facts.kernel?.events ?? []).values()].flatMap(all => all.slice(-1));
  const untold = reports.filter(
    last => !concerns(last, facts) || (stillHung(last, facts) === undefined && wasSwept(facts)),
  );
  const [last] = untold.slice(-1);
  if (last === undefined) return;
  const ago =
    last.time === null
      ? ''
      : `, last ${formatDuration(Math.max(0, facts.capture.startedAt - last.time))} before the capture`;
  const names = [...new Set(untold.map(({ comm, pid }) => `${comm} ${pid}`))];
  const shown = names.slice(-4).join(', ');
  yield mention(
    `The kernel has reported hung tasks that are not of this pod, or hang no more: ${shown}${names.length > 4 ? ` and ${names.length - 4} more` : ''}${ago}.`,
    {
      because: untold.slice(-3).map(({ cite }) => cite),
      next: ['Read their traces in the kernel log if the disk or the filesystem is the same.'],
    },
  );
}

function* oomOfOthers(facts: Facts): Iterable<Finding> {
  const others = oomKills(facts).filter(({ ofPod }) => !ofPod);
  const [last] = others.slice(-1);
  if (last === undefined) return;
  const count =
    others.length === 1 ? 'a process that is not of this pod' : `${others.length} processes that are not of this pod`;
  yield mention(`The kernel killed ${count} for lack of memory, last ${last.comm} ${last.pid}.`, {
    because: others.slice(-3).map(({ cite }) => cite),
    next: [
      'Look whether the node itself was short of memory (`Out of memory`) or a cgroup (`Memory cgroup out of memory`).',
    ],
  });
}

/** Of another pod's process, or of none's. Of this pod's the rule mmap-lock tells. */
function* unreadable(facts: Facts): Iterable<Finding> {
  if (facts.target.target.kind === 'node') return;
  const own = new Set(blockedThreads(facts).flatMap(({ thread, whose }) => (whose === 'other' ? [] : [thread.pid])));
  const others = hungReads(facts).filter(({ pid }) => !own.has(pid) && !isOfPod(pid, facts));
  if (others.length === 0) return;
  const pids = others.slice(0, 4).map(({ pid }) => pid);
  const more = others.length > pids.length ? ` and ${others.length - pids.length} more` : '';
  yield mention(
    `Command lines of processes that are not of this pod cannot be read (${pids.join(', ')}${more}): ps, top and pgrep -f hang on them.`,
    {
      because: others.slice(0, 4).flatMap(({ cites }) => cites.slice(0, 1)),
      next: ['Capture the node alone (`stallcap grab --node`) to see what they wait for.'],
    },
  );
}
