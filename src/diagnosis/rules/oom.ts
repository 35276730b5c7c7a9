import { formatDuration } from '../../formats/duration.ts';
import { nameOf } from '../exits.ts';
import type { Facts, KernelEvent } from '../facts.ts';
import { defineRule, type Finding } from '../rule.ts';

/** Processes of this pod that the kernel has killed for memory. No wait, but often the end that nobody noticed. */
export const oom = defineRule({
  id: 'oom',
  title: 'The kernel killed a process of the pod for lack of memory',
  kind: 'context',
  needs: [],
  needsOneOf: ['kernel', 'containers'],
  *judge(facts) {
    const own = oomKills(facts).filter(({ ofPod }) => ofPod);
    const last = own.at(-1);
    if (last !== undefined) {
      yield fromLog(last, own, facts);
      return;
    }
    for (const { cgroup, ...container } of facts.containers ?? []) {
      const kills = cgroup === null || cgroup === 'absent' ? 0 : (cgroup.memory?.oomKills ?? 0);
      if (kills === 0 || cgroup === null || cgroup === 'absent' || cgroup.memory === null) continue;
      yield {
        verdict: 'proved',
        says: `The kernel has killed ${kills} ${kills === 1 ? 'process' : 'processes'} of ${nameOf(container)} for lack of memory, says its cgroup; its log of that is not in the bundle.`,
        because: [cgroup.memory.cite],
        next: NEXT,
        ageMs: null,
        ageFrom: null,
        links: [],
      };
    }
  },
});

const NEXT = [
  'Raise the memory limit of the container, or find out what it needed the memory for: the table of tasks above the line in the kernel log has it.',
  'Exit status 137 alone does not say so: the shim makes it up when it deletes what it did not see end.',
];

/**
 * One event per kill. The kernel says it in two lines: `oom-kill:…,task_memcg=/kubepods/…,task=java,pid=4711` has the cgroup, and
 * `Killed process 4711 (java)`, all there is before 4.19, has the sizes.
 */
export function oomKills({ kernel }: Pick<Facts, 'kernel'>): readonly KernelEvent[] {
  const lines = kernel?.events.filter(({ kind, pid }) => kind === 'oom-kill' && pid !== null) ?? [];
  return [...Map.groupBy(lines, ({ pid, comm }) => `${comm} ${pid}`).values()].flatMap(all => {
    const killed = all.find(({ text }) => text.includes('Killed process')) ?? all[0];
    return killed === undefined ? [] : [{ ...killed, ofPod: all.some(({ ofPod }) => ofPod) }];
  });
}

function fromLog(last: KernelEvent, own: readonly KernelEvent[], { capture }: Facts): Finding {
  const ago =
    last.time === null ? '' : `, ${formatDuration(Math.max(0, capture.startedAt - last.time))} before the capture`;
  const many = own.length === 1 ? '' : ` (and ${own.length - 1} more)`;
  return {
    verdict: 'proved',
    says: `The kernel killed ${last.comm} ${last.pid} of this pod for lack of memory${many}${ago}.`,
    because: own.slice(-3).map(({ cite }) => cite),
    next: NEXT,
    ageMs: null,
    ageFrom: null,
    links: [],
  };
}
