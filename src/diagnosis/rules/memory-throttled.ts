import { formatDuration, formatSize } from '../../formats/duration.ts';
import { inside } from '../blocked.ts';
import { nameOf } from '../exits.ts';
import type { ContainerCgroup, ContainerFacts, Facts, PressureShare, Thread } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';

/** mm/memcontrol.c: above memory.high a task is put to sleep for up to 2 s on each return from the kernel. */
const THROTTLED_IN = /^(?:mem_cgroup_handle_over_high|__mem_cgroup_handle_over_high|mem_cgroup_oom_synchronize)$/;
/** Share of the time in which all tasks of the cgroup waited for memory. */
const PRESSURE = 0.2;

/** It looks like slow I/O, with tasks in D that get on a little, and is the cgroup's own limit: PSI memory is high, PSI io is not. */
export const memoryThrottled = defineRule({
  id: 'memory-throttled',
  title: 'The container is slowed down because it is above memory.high',
  kind: 'stall',
  needs: ['containers'],
  needsOneOf: ['pressure', 'threads'],
  *judge(facts) {
    for (const container of facts.containers) {
      const { cgroup } = container;
      if (cgroup === null || cgroup === 'absent' || cgroup.memory === null) continue;
      const { memory } = cgroup;
      const isAbove =
        memory.highBytes !== null && (memory.currentBytes >= memory.highBytes || (memory.highEventsGrowth ?? 0) > 0);
      if (isAbove) yield* findingOf(container, memory, facts);
    }
  },
});

function* findingOf(
  container: ContainerFacts,
  memory: NonNullable<ContainerCgroup['memory']>,
  facts: Facts,
): Iterable<Finding> {
  const own = facts.pressure?.pod.get(container.id) ?? null;
  const isPressed = (own?.memory?.full ?? 0) >= PRESSURE;
  const throttled =
    facts.threads?.all.filter(thread => isOf(thread, container) && inside(thread, THROTTLED_IN) !== null) ?? [];
  if (!isPressed && throttled.length === 0) return;
  const isIo = (own?.io?.full ?? 0) >= (own?.memory?.full ?? 0) && (own?.io?.full ?? 0) > 0;
  const age = ageOf(own?.memory ?? null);
  const grows = (memory.highEventsGrowth ?? 0) > 0;
  yield {
    verdict: verdictAt(age.ageMs, isPressed && grows && !isIo ? 'proved' : 'likely'),
    says:
      `${nameOf(container)} is slowed down by its own memory limit, not by a disk: it has ${formatSize(memory.currentBytes)} ` +
      `and memory.high is ${formatSize(memory.highBytes ?? 0)}${isPressed ? `; its tasks waited for memory ${Math.round((own?.memory?.full ?? 0) * 100)} % of the time` : ''}.`,
    because: [
      memory.cite,
      ...(own?.memory == null ? [] : [own.memory.cite]),
      ...throttled.slice(0, 2).flatMap(thread => [...thread.cites.slice(-1), ...citeIn(thread)]),
    ],
    next: [
      "Raise its memory limit or its request (memory.high is set from them by the kubelet's MemoryQoS), or let the program use less.",
      `Do not look for a slow disk: watch memory.events \`high\` and memory.pressure of ${pathOf(container)}.`,
    ],
    ...age,
    links: throttled.slice(0, 3).map(thread => ({
      says: `${thread.comm} ${thread.tid} throttled above memory.high`,
      about: [`thread:${thread.tid}` as const],
      waitsFor: [`cgroup:${pathOf(container)}` as const],
    })),
  };
}

const isOf = (thread: Thread, { id, initPid }: ContainerFacts) => thread.container === id || thread.pid === initPid;
const pathOf = ({ cgroup }: ContainerFacts) => (cgroup === null || cgroup === 'absent' ? '' : cgroup.path);

function citeIn(thread: Thread) {
  const frame = inside(thread, THROTTLED_IN);
  return frame === null ? [] : [frame];
}

/** Throttled tasks run now and then, so no clock of theirs tells. A running mean over 60 s of x % is at least x % of 60 s of waiting. */
function ageOf(memory: PressureShare | null): Pick<Finding, 'ageMs' | 'ageFrom'> {
  const mean = memory?.avg60Full ?? null;
  if (mean === null) return { ageMs: null, ageFrom: null };
  const ageMs = Math.round((mean / 100) * 60_000);
  return {
    ageMs,
    ageFrom: `memory.pressure full avg60=${mean.toFixed(2)}: ${formatDuration(ageMs)} of waiting in the last minute`,
  };
}
