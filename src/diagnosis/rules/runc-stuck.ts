import { formatDuration } from '../../formats/duration.ts';
import { exitOf, nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, GoroutineFact } from '../facts.ts';
import { defineRule, type Finding, type Link, type Part, verdictAt } from '../rule.ts';
import { goroutineWaitingFor, placeOf, type RuncChild, runcChildren, threadThatTells } from '../runc-children.ts';
import { isIn, standstill, threadWords } from '../standstill.ts';

/** runc is there for tenths of a second; on a slow disk `runc start` took 0.6 s. */
const OLD_MS = 10_000;

export const runcStuck = defineRule({
  id: 'runc-stuck',
  title: 'runc does not come back',
  kind: 'stall',
  needs: ['threads', 'processes'],
  *judge(facts) {
    const children = runcChildren(facts);
    for (const child of children) {
      const age = ageOf(child, facts);
      if (age !== null) yield findingOf(child, age, facts);
    }
    for (const container of facts.containers ?? []) {
      if (!children.some(child => child.container === container.id)) yield* neverStarted(container, facts);
    }
  },
});

interface Age {
  readonly ageMs: number;
  readonly ageFrom: string;
  /** How often it was begun again; 0 for one that has lasted. */
  readonly attempts: number;
}

/**
 * Old; or a `runc delete` that was killed at its deadline, 10 s after the exit, and is begun again with each retry: that one is always
 * young. Null for one that is neither.
 */
function ageOf({ pid, row, command, container: id }: RuncChild, facts: Facts): Age | null {
  const ageMs = row?.ageMs ?? null;
  if (ageMs !== null && ageMs >= OLD_MS) {
    return { ageMs, ageFrom: `the age of process ${pid} in node/processes.txt`, attempts: 0 };
  }
  const container = facts.containers?.find(other => other.id === id);
  const exit = container === undefined ? null : exitOf(container, facts);
  const failures =
    facts.logs?.events.filter(
      ({ container: of, kind }) => of === id && (kind === 'exit-handling-failed' || kind === 'backoff-failed'),
    ) ?? [];
  if (command !== 'delete' || exit === null || failures.length === 0) return null;
  return { ageMs: exit.ageMs, ageFrom: exit.ageFrom, attempts: failures.length + 1 };
}

function findingOf(child: RuncChild, { ageMs, ageFrom, attempts }: Age, facts: Facts): Finding {
  const { pid, command, threads } = child;
  const container = facts.containers?.find(({ id }) => id === child.container);
  const where = threadThatTells(child);
  const still = threads.filter(({ state }) => state !== 'Z').every(thread => standstill(thread) !== null);
  const goroutine = goroutineWaitingFor(child, facts);
  const what = `runc ${command ?? '(command unknown)'} ${pid}`;
  const place = where === null ? '' : `, in ${placeOf(where, child)}`;
  const tried = attempts === 0 ? '' : ` (attempt ${attempts}: the deadline kills it, and the retry begins it again)`;
  return {
    verdict: verdictAt(ageMs, still && where !== null ? 'proved' : 'likely'),
    says: `${what} of ${container === undefined ? 'the pod' : nameOf(container)} has not come back for ${formatDuration(ageMs)}${tried}${place}; its shim waits for it.`,
    because: [
      ...(child.row === null ? [] : [child.row.cite]),
      ...(where === null ? [] : [where.cites.at(-1) ?? where.cites[0]]),
      ...(goroutine === null ? [] : [goroutine.cite]),
      ...(container?.runcErrors.slice(-1) ?? []),
    ],
    next: [
      `Read where it stands: the stacks of ${pid} and of its children in ${where?.entry ?? 'shim/children-1.txt'}.`,
      'Do not attach strace or gdb to it first: that is known to un-hang runc init, and the evidence is gone.',
      'containerd kills runc when the deadline of the request has passed; one that is older is in D, or belongs to a request without a deadline.',
    ],
    ...{ ageMs, ageFrom },
    links: linksOf(child, `${what}, ${formatDuration(ageMs)}${tried}`, goroutine, facts),
  };
}

function linksOf(
  child: RuncChild,
  says: string,
  goroutine: GoroutineFact | null,
  { goroutines, threads }: Facts,
): readonly Link[] {
  const { pid, shimPid, command, container } = child;
  const where = threadThatTells(child);
  const task: readonly Part[] = container === null ? [] : [`task:${container}`];
  const dump = goroutines?.find(candidate => candidate.shimPid === shimPid);
  // A goroutine that others wait for is told by the rules on locks.
  const isTold = dump?.locks.some(({ holder, waiters }) => holder?.id === goroutine?.id && waiters.length > 0) === true;
  // runc init of a container that is to be started waits for this runc.
  const behind = threads?.all.filter(thread => thread.role === 'runc init' && thread.container === container) ?? [];
  const about = [...child.threads, ...behind].filter(({ tid }) => tid !== where?.tid);
  return [
    ...(goroutine === null || shimPid === null || isTold
      ? []
      : [
          {
            says: `shim ${shimPid} goroutine ${goroutine.id} in runc ${command}`,
            about: [`goroutine:${shimPid}:${goroutine.id}` as const, ...task],
            waitsFor: [`process:${pid}` as const],
          },
        ]),
    {
      says,
      about: [`process:${pid}`, ...(goroutine === null ? task : []), ...about.map(({ tid }): Part => `thread:${tid}`)],
      waitsFor: where === null ? [] : [`thread:${where.tid}`],
    },
    ...(where === null ? [] : [{ says: threadWords(where), about: [`thread:${where.tid}` as const], waitsFor: [] }]),
  ];
}

/**
 * `runc init` that waits for `runc start` is the normal end of a create. It is one too many when CRI was asked for the start long
 * ago and no runc is there.
 */
function* neverStarted(container: ContainerFacts, { threads, logs, capture }: Facts): Iterable<Finding> {
  const init = threads?.all.find(
    ({ role, container: of, call }) => role === 'runc init' && of === container.id && call !== null,
  );
  if (init === undefined || container.execFifo !== true || !(isIn(init, 'openat') || isIn(init, 'open'))) return;
  const own = logs?.events.filter(event => event.container === container.id) ?? [];
  const asked = own.findLast(({ kind }) => kind === 'start-requested');
  const over = own.findLast(({ kind }) => kind === 'start-returned' || kind === 'start-failed');
  if (asked?.time == null || (over?.time ?? 0) >= asked.time) return;
  const ageMs = Math.round(Math.max(0, capture.startedAt - asked.time));
  yield {
    verdict: verdictAt(ageMs, 'likely'),
    says: `${nameOf(container)} is created and waits for \`runc start\`, which CRI was asked for ${formatDuration(ageMs)} ago and nobody runs.`,
    because: [asked.cite, init.cites.at(-1) ?? init.cites[0]],
    next: [
      "Take containerd's goroutines (SIGUSR1 to containerd): what it does between create and start (NRI plugins, its own locks) is in them.",
    ],
    ageMs,
    ageFrom: `StartContainer in ${asked.cite.entry}`,
    links: [
      {
        says: `runc init ${init.pid} waits for a start that nobody runs`,
        about: [`task:${container.id}`, `process:${init.pid}`, `thread:${init.tid}`],
        waitsFor: [],
      },
    ],
  };
}
