import { formatDuration } from '../../formats/duration.ts';
import { inside } from '../blocked.ts';
import { nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, Freezer, Thread } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { type Standstill, standstill, threadWords } from '../standstill.ts';

/** kernel/freezer.c (v1), kernel/signal.c (v2). What slept when it was frozen stays where it slept, and is in D (v1, 6.1 and later). */
const FROZEN_IN = /^(?:__refrigerator|do_freezer_trap)$/;

interface Frozen {
  readonly container: ContainerFacts;
  readonly path: string;
  readonly freezer: Freezer;
}

/** Nothing in a frozen cgroup runs, no signal ends it, and runc waits for it. `docker pause`, `ctr task pause` and checkpoints freeze. */
export const freezer = defineRule({
  id: 'freezer',
  title: 'The container is frozen',
  kind: 'stall',
  needs: ['containers'],
  lacks: ({ containers }) =>
    containers.every(({ cgroup }) => cgroup === null || (cgroup !== 'absent' && cgroup.freezer === null))
      ? ["the freezer's state of the pod's cgroups"]
      : [],
  *judge(facts) {
    for (const container of facts.containers) {
      const frozen = frozenIn(container, facts);
      const stopped = stoppedThreads(container, facts);
      if (frozen !== null) yield frozenFinding(frozen, stopped, facts);
      else if (stopped.some(({ thread }) => inside(thread, FROZEN_IN) !== null))
        yield* thawedAndStill(container, stopped);
    }
  },
});

/** By its own cgroup, or one above it. */
function frozenIn(container: ContainerFacts, { cgroups }: Facts): Frozen | null {
  const { cgroup } = container;
  if (cgroup === null || cgroup === 'absent') return null;
  if (cgroup.freezer !== null && cgroup.freezer.state !== 'THAWED') {
    return { container, path: cgroup.path, freezer: cgroup.freezer };
  }
  const above = cgroups?.notable.find(({ path, freezer: own }) => {
    return own !== null && own.state !== 'THAWED' && cgroup.path.startsWith(`${path === '/' ? '' : path}/`);
  });
  return above?.freezer == null ? null : { container, path: above.path, freezer: above.freezer };
}

interface Stopped {
  readonly thread: Thread;
  readonly stood: Standstill;
}

function stoppedThreads({ id, initPid }: ContainerFacts, { threads }: Facts): readonly Stopped[] {
  const own = threads?.all.filter(({ container, pid }) => container === id || pid === initPid) ?? [];
  return own
    .flatMap(thread => {
      const stood = standstill(thread);
      return stood === null ? [] : [{ thread, stood }];
    })
    .toSorted((a, b) => rank(a.thread) - rank(b.thread) || b.stood.ageMs - a.stood.ageMs);
}

const rank = (thread: Thread) => (inside(thread, FROZEN_IN) !== null ? 0 : thread.state === 'D' ? 1 : 2);

function frozenFinding({ container, path, freezer: own }: Frozen, stopped: readonly Stopped[], facts: Facts): Finding {
  const [first] = stopped;
  const trap = first === undefined ? null : inside(first.thread, FROZEN_IN);
  // FREEZING lasts as long as one task cannot be stopped: that one, not the freezer, is the cause.
  const resists =
    own.state === 'FREEZING' ? stopped.find(({ thread }) => thread.state === 'D' && rank(thread) > 0) : undefined;
  const isMeant = container.views.some(({ says }) => says === 'paused');
  const name = nameOf(container);
  return {
    verdict: verdictAt(
      first?.stood.ageMs ?? null,
      trap !== null && first?.stood.proof === 'looks' ? 'proved' : 'likely',
    ),
    says:
      own.state === 'FREEZING'
        ? `${name} is being frozen and cannot be: ${resists === undefined ? 'a task of it does not stop' : `${threadWords(resists.thread)} does not stop`}.`
        : `${name} is frozen${first === undefined ? '' : ` for at least ${formatDuration(first.stood.ageMs)}`}${isMeant ? ', paused by its runtime' : ''}: nothing in it runs, and no signal ends it.`,
    because: [
      own.cite,
      ...(first === undefined ? [] : first.thread.cites.slice(-1)),
      ...(trap === null ? [] : [trap]),
      ...(resists === undefined ? [] : resists.thread.cites.slice(-1)),
    ],
    next: [
      isMeant
        ? 'Resume it the way it was paused: `docker unpause`, `ctr -n k8s.io task resume`.'
        : 'Find who froze it: `docker pause`, `ctr task pause`, a checkpoint, or runc in the middle of an update that was killed.',
      `Thaw it by hand only if nobody else does: ${thawWords(path, facts)}.`,
    ],
    ageMs: first?.stood.ageMs ?? null,
    ageFrom: first?.stood.ageFrom ?? null,
    links: [
      ...stopped.slice(0, 3).map(({ thread }) => ({
        says: threadWords(thread),
        about: [`thread:${thread.tid}` as const, `process:${thread.pid}` as const],
        waitsFor: [`cgroup:${path}` as const],
      })),
      {
        says: `its cgroup is ${own.state}`,
        about: [`cgroup:${path}`],
        waitsFor: resists === undefined ? [] : [`thread:${resists.thread.tid}`],
      },
    ],
  };
}

function thawWords(path: string, { capture }: Facts): string {
  return capture.cgroupVersion === 2
    ? `\`echo 0 > /sys/fs/cgroup${path}/cgroup.freeze\``
    : `\`echo THAWED > /sys/fs/cgroup/freezer${path}/freezer.state\``;
}

/** The cgroup says that it runs, and its tasks are in the freezer: a fault of the kernel. */
function* thawedAndStill(container: ContainerFacts, stopped: readonly Stopped[]): Iterable<Finding> {
  const { cgroup } = container;
  const [first] = stopped;
  if (cgroup === null || cgroup === 'absent' || cgroup.freezer === null || first === undefined) return;
  const trap = inside(first.thread, FROZEN_IN);
  yield {
    verdict: verdictAt(first.stood.ageMs, first.stood.proof === 'looks' ? 'proved' : 'likely'),
    says: `${nameOf(container)} was thawed, and ${threadWords(first.thread)} is still in the freezer: a fault of the kernel, not of the container.`,
    because: [cgroup.freezer.cite, ...first.thread.cites.slice(-1), ...(trap === null ? [] : [trap])],
    next: [
      'Freeze and thaw it once more: that has set such tasks free.',
      'Report it to the distribution with these stacks and the version of the kernel.',
    ],
    ageMs: first.stood.ageMs,
    ageFrom: first.stood.ageFrom,
    links: [
      {
        says: `${threadWords(first.thread)}, in the freezer of a cgroup that is thawed`,
        about: [`thread:${first.thread.tid}`],
        waitsFor: [],
      },
    ],
  };
}
