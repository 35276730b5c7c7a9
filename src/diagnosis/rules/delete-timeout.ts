import { formatDuration } from '../../formats/duration.ts';
import { believedRunning, type Exit, exitOf, hasEnded, nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, GoroutineFact, LogEvent, LogKind } from '../facts.ts';
import { doing, minutesWords } from '../goroutine-words.ts';
import { defineRule, type Finding, type Link, verdictAt } from '../rule.ts';

const FAILED: ReadonlySet<LogKind> = new Set(['delete-failed', 'exit-handling-failed', 'backoff-failed']);

/** containerd gives the handling of an exit 10 s (handleEventTimeout, cri/server/events.go), then retries after 1, 2, 4 … s, 5 min at most. */
export const deleteTimeout = defineRule({
  id: 'delete-timeout',
  title: "containerd's Delete of an ended task times out again and again",
  kind: 'stall',
  needs: ['logs', 'containers'],
  *judge(facts) {
    for (const container of facts.containers) {
      if (container.init !== null && !hasEnded(container)) continue;
      if (hasCome(container)) continue;
      const own = facts.logs.events.filter(event => event.container === container.id);
      const failures = own.filter(
        ({ kind, error, message }) => FAILED.has(kind) && /deadline ?exceeded/i.test(`${message} ${error ?? ''}`),
      );
      const [first] = failures;
      const exit = exitOf(container, facts);
      // Without a time there was no exit that anybody knows of: Delete has failed for something else.
      if (first === undefined || exit === null || cleanedUp(own, failures)) continue;
      const inside = insideOfDelete(container, facts);
      yield findingOf({ container, failures: [first, ...failures.slice(1)], own, exit, inside });
    }
  },
});

/** The end is written down: what failed has worked since. */
function hasCome({ criStatus, docker }: ContainerFacts): boolean {
  if (criStatus !== null && criStatus !== 'absent') return criStatus.finishedAt !== null;
  return docker !== null && docker !== 'absent' && !docker.running;
}

function cleanedUp(own: readonly LogEvent[], failures: readonly LogEvent[]): boolean {
  const last = failures.at(-1)?.time ?? 0;
  return own.some(({ kind, time }) => kind === 'late-cleanup' && (time ?? 0) >= last);
}

interface TimedOut {
  readonly container: ContainerFacts;
  readonly failures: readonly [LogEvent, ...LogEvent[]];
  /** All lines about it. */
  readonly own: readonly LogEvent[];
  readonly exit: Exit;
  /** The goroutine of the shim that does not come back from it. */
  readonly inside: GoroutineFact | null;
}

/**
 * Who is inside of Delete in the shim's dump, where nobody waits for its lock (else the rule state-behind-delete tells) and no runc is
 * below it (runc-stuck); with one ended container it is about that one.
 */
function insideOfDelete({ shimPid, id }: ContainerFacts, { containers, goroutines }: Facts): GoroutineFact | null {
  const ended = containers?.filter(other => other.shimPid === shimPid && hasEnded(other)) ?? [];
  const dump = goroutines?.find(candidate => candidate.shimPid === shimPid);
  if (ended.length !== 1 || ended[0]?.id !== id) return null;
  const held = dump?.locks.find(({ operation }) => operation === 'Delete');
  const holder = held?.holder ?? null;
  return holder === null || held?.waiters.length !== 0 || doing(holder).startsWith('runc ') ? null : holder;
}

function linkOf({ container, inside }: TimedOut): readonly Link[] {
  if (inside === null || container.shimPid === null) return [];
  return [
    {
      says: `shim ${container.shimPid} goroutine ${inside.id} in ${doing(inside)}${minutesWords(inside)}`,
      about: [`task:${container.id}`, `goroutine:${container.shimPid}:${inside.id}`],
      waitsFor: inside.tid === null ? [] : [`thread:${inside.tid}`],
    },
  ];
}

function findingOf(timedOut: TimedOut): Finding {
  const { container, failures, own, exit, inside } = timedOut;
  const exits = new Set(own.flatMap(({ exitedAt }) => exitedAt ?? []));
  const retries = own.filter(({ kind }) => kind === 'exit-retried').length;
  const last = failures.at(-1) ?? failures[0];
  const belief = believedRunning(container);
  const times = failures.length === 1 ? 'once' : `${failures.length} times`;
  // With another exited_at in each line there was more than one exit, so none of them is the start of this.
  const verdict = verdictAt(exit.ageMs, exits.size === 1 && container.init !== null ? 'proved' : 'likely');
  return {
    verdict,
    says: `The process of ${nameOf(container)} ended ${formatDuration(exit.ageMs)} ago, and containerd's Delete of its task timed out ${times}${belief === null ? '' : `, so ${belief.by} still says running`}${inside === null ? '' : `; the shim is in ${doing(inside)}`}.`,
    because: [
      failures[0].cite,
      ...(last === failures[0] ? [] : [last.cite]),
      ...(belief === null ? [] : [belief.cite]),
      ...(inside === null ? [] : [inside.cite]),
    ],
    next: [
      'Look for what the shim hangs in inside of Delete: the findings about umount, runc delete and output of this report.',
      `containerd tries again by itself (${retries} retries in the log, up to 5 min apart); nothing has to be restarted once the shim is free.`,
      'Do not restart containerd to speed it up: a shim that does not answer Connect in 5 s loses its bundle then.',
    ],
    ageMs: exit.ageMs,
    ageFrom: exit.ageFrom,
    links: [
      {
        says: `${belief?.by ?? 'CRI'} still says running because TaskExit's Delete timed out after 10 s${failures.length === 1 ? '' : ` (x${failures.length})`}`,
        about: [`belief:${container.id}`],
        waitsFor: [`task:${container.id}`],
      },
      ...linkOf(timedOut),
    ],
  };
}
