import { formatDuration } from '../../formats/duration.ts';
import { isInside } from '../../formats/goroutines/goroutine.ts';
import { endedFor, nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, ShimFacts } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { standstill } from '../standstill.ts';

/** The only goroutine that takes exits from the reaper (service.processExits). Held up, it has not missed them: they wait. */
const HELD_UP = [['(*service).processExits'], ['(*service).handleProcessExit'], ['(*service).checkProcesses']];

export const shimMissedExit = defineRule({
  id: 'shim-missed-exit',
  title: 'The shim still says running for a process that is over',
  kind: 'stall',
  needs: ['containers', 'shims'],
  *judge(facts) {
    for (const container of facts.containers) {
      const shim = facts.shims.find(({ pid }) => pid === container.shimPid);
      if (shim === undefined || shim.alive !== true || shim.state === 'T' || shim.state === 't') continue;
      if (isHeldUp(shim, facts)) continue;
      if (container.init === 'zombie') yield* notReaped(container, shim, facts);
      else if (container.init === 'gone' || container.init === 'reused') yield* notNoticed(container, shim, facts);
    }
  },
});

/** It waits in a lock or a call there; the usual receive from its channel is not that. */
function isHeldUp({ pid }: ShimFacts, { goroutines }: Facts): boolean {
  const dump = goroutines?.find(({ shimPid }) => shimPid === pid);
  return (
    dump?.all.some(
      goroutine =>
        HELD_UP.some(calls => isInside(goroutine, calls)) &&
        goroutine.state !== 'chan receive' &&
        goroutine.state !== 'select',
    ) === true
  );
}

function* notNoticed(container: ContainerFacts, shim: ShimFacts, facts: Facts): Iterable<Finding> {
  const answer = container.shimAnswer;
  if (answer?.status !== 'RUNNING' || shim.children === null) return;
  if (shim.children.some(({ pid }) => pid === container.initPid)) return;
  const ended = endedFor(container, facts);
  const ageMs = ended?.ageMs ?? null;
  yield {
    verdict: verdictAt(ageMs, 'proved'),
    says: `Shim ${shim.pid} says that ${nameOf(container)} runs as process ${container.initPid}, which is gone and is no child of it any more: it missed the exit, and nobody will be told.`,
    because: [answer.cite, ...(container.initCite === null ? [] : [container.initCite]), ...(ended?.cites ?? [])],
    next: [
      'Look for who reaped the process instead: another subreaper, a debugger, a tool that waits for all children.',
      'Nothing of this heals by itself. Delete the pod; if that hangs, `ctr -n k8s.io task delete --force` of this container is what makes the shim ask runc.',
    ],
    ageMs,
    ageFrom: ended?.ageFrom ?? null,
    links: [
      {
        says: `shim ${shim.pid} missed the exit of ${container.initPid} and says running`,
        about: [`belief:${container.id}`, `task:${container.id}`],
        waitsFor: [],
      },
    ],
  };
}

/** Dead, and nobody has waited for it: its parent is the shim, whose reaper must be stuck. */
function* notReaped(container: ContainerFacts, shim: ShimFacts, facts: Facts): Iterable<Finding> {
  const child = shim.children?.find(({ pid, ppid }) => pid === container.initPid && ppid === shim.pid);
  if (child === undefined) return;
  const leader = facts.threads?.all.find(({ pid, tid }) => pid === container.initPid && tid === pid);
  const stood = leader === undefined ? null : standstill(leader);
  const ageMs = stood?.ageMs ?? null;
  const words = ageMs === null ? '' : ` for ${formatDuration(ageMs)}`;
  yield {
    verdict: verdictAt(ageMs, 'likely'),
    says: `Process ${child.pid} of ${nameOf(container)} has been a zombie${words}, and its shim ${shim.pid} does not reap it.`,
    because: [child.cite, ...(leader?.cites.slice(-1) ?? [])],
    next: [
      'See what the shim waits for: a thread that is not idle, or a lock in its goroutines.',
      'A zombie with threads that still live is reaped only when the last of them has ended: look at the other threads of the process.',
    ],
    ageMs,
    ageFrom: stood?.ageFrom ?? null,
    links: [
      {
        says: `shim ${shim.pid} does not reap ${child.pid}`,
        about: [`belief:${container.id}`, `task:${container.id}`, `process:${child.pid}`],
        waitsFor: [],
      },
    ],
  };
}
