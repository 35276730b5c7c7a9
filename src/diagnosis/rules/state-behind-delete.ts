import { formatDuration } from '../../formats/duration.ts';
import { hasEnded, nameOf } from '../exits.ts';
import type { ContainerFacts, Facts, GoLock, GoroutineFact, LogEvent, ShimGoroutines } from '../facts.ts';
import { doing, minutesWords } from '../goroutine-words.ts';
import { defineRule, type Finding, type Link, type Part, verdictAt } from '../rule.ts';
import { partsOfRunc, runcChildren } from '../runc-children.ts';
import { standstill } from '../standstill.ts';

/**
 * The shim answers one request per container at a time: whoever is inside of Delete, Kill or Start keeps Init.mu, and State of the same
 * container waits for it. CRI cannot learn that the process is gone, and goes on saying what it last knew.
 */
export const stateBehindDelete = defineRule({
  id: 'state-behind-delete',
  title: 'The shim cannot say what state a container is in, because another request holds its lock',
  kind: 'stall',
  needs: ['goroutines'],
  *judge(facts) {
    for (const dump of facts.goroutines) {
      for (const lock of dump.locks) {
        const asking = lock.waiters.filter(({ rpc }) => rpc === 'State');
        // Not Init.lock: shims that have it let State pass a Delete. Not service.mu: then the whole shim is held up by a Create.
        if (lock.name !== 'Init.mu' || lock.holder === null || asking.length === 0) continue;
        yield findingOf({ dump, lock, holder: lock.holder, asking }, facts);
      }
    }
  },
});

interface Held {
  readonly dump: ShimGoroutines;
  readonly lock: GoLock;
  readonly holder: GoroutineFact;
  readonly asking: readonly GoroutineFact[];
}

function findingOf(held: Held, facts: Facts): Finding {
  const { dump, lock, holder, asking } = held;
  const container = containerOf(held, facts);
  const timeouts = timeoutsOf(container, dump, facts);
  const age = ageOf(held, timeouts, facts);
  const isEchoed = timeouts.length > 0 || container?.shimAnswer?.status === 'timeout';
  const who = container === undefined ? 'a container' : nameOf(container);
  const number = asking.length === 1 ? 'a State request waits' : `${asking.length} State requests wait`;
  return {
    verdict: verdictAt(age.ageMs, isEchoed && lock.joinedBy !== null ? 'proved' : 'likely'),
    says:
      `Shim ${dump.shimPid} cannot answer what state ${who} is in: ${number} for the lock that its ${lock.operation} holds, which is ` +
      `in ${doing(holder)}${minutesWords(holder)}; until that ends, CRI shows what it knew before.`,
    because: [
      holder.cite,
      ...asking.slice(0, 3).map(({ cite }) => cite),
      ...timeouts.slice(-2).map(({ cite }) => cite),
      ...(container?.shimAnswer == null ? [] : [container.shimAnswer.cite]),
    ],
    next: [
      `Look at what ${lock.operation} waits for: ${causeWords(holder)}. The lock is free as soon as that returns.`,
      'Do not ask again: each State leaves one more goroutine in the shim. `ctr task ls` asks State of every container of the node.',
      'Do not restart containerd: it would take a shim that does not answer for dead, and delete its bundle under the living process.',
    ],
    ...age,
    links: [linkOf(held, container, facts)],
  };
}

/** The container whose lock it is: with Delete the only one that has ended and still has a bundle; else the one that State timed out on. */
function containerOf({ dump, lock }: Held, { containers, logs }: Facts): ContainerFacts | undefined {
  const own = containers?.filter(({ shimPid }) => shimPid === null || shimPid === dump.shimPid) ?? [];
  const ended = own.filter(container => hasEnded(container) && container.bundle !== 'absent');
  if (lock.operation === 'Delete' && ended.length === 1) return ended[0];
  const asked = own.filter(({ id }) => (logs?.stateTimeouts.byContainer.get(id) ?? 0) > 0);
  return asked.length === 1 ? asked[0] : undefined;
}

function timeoutsOf(
  container: ContainerFacts | undefined,
  { shimPid }: ShimGoroutines,
  facts: Facts,
): readonly LogEvent[] {
  const own = facts.containers?.filter(other => other.shimPid === null || other.shimPid === shimPid) ?? [];
  const ids = new Set(container === undefined ? own.map(({ id }) => id) : [container.id]);
  return (
    facts.logs?.events.filter(({ kind, container: id }) => kind === 'state-timeout' && id !== null && ids.has(id)) ?? []
  );
}

/** The thread of the holder knows best; dumps count minutes; the first timeout in the log is younger than the wait by 2 s. */
function ageOf(
  { holder }: Held,
  timeouts: readonly LogEvent[],
  { threads, capture }: Facts,
): Pick<Finding, 'ageMs' | 'ageFrom'> {
  const thread = threads?.all.find(({ tid }) => tid === holder.tid);
  const stood = thread === undefined ? null : standstill(thread);
  if (stood !== null) return { ageMs: stood.ageMs, ageFrom: stood.ageFrom };
  if (holder.minutes !== null) {
    return { ageMs: holder.minutes * 60_000, ageFrom: `goroutine ${holder.id}: ${holder.minutes} minutes` };
  }
  const first = timeouts.find(({ time }) => time !== null)?.time ?? null;
  if (first === null) return { ageMs: null, ageFrom: null };
  const ageMs = Math.max(0, capture.startedAt - first);
  return { ageMs, ageFrom: `the first State that timed out, ${formatDuration(ageMs)} before the capture` };
}

function causeWords(holder: GoroutineFact): string {
  return holder.tid === null
    ? `goroutine ${holder.id} is in ${doing(holder)}`
    : `thread ${holder.tid} is in ${doing(holder)}`;
}

function linkOf({ dump, lock, holder, asking }: Held, container: ContainerFacts | undefined, facts: Facts): Link {
  const { shimPid } = dump;
  const calls = asking.length === 1 ? '1 State call' : `${asking.length} State calls`;
  const task: readonly Part[] = container === undefined ? [] : [`task:${container.id}`];
  return {
    says: `shim ${shimPid} goroutine ${holder.id} in ${doing(holder)}${minutesWords(holder)}, holding Init.mu with ${calls} behind it`,
    about: [
      ...task,
      `goroutine:${shimPid}:${holder.id}`,
      ...(lock.address === null ? [] : [`lock:${shimPid}:${lock.address}` as const]),
    ],
    waitsFor: waitsFor(holder, dump, facts),
  };
}

/** Its thread; or the one runc of the shim, when it waits for a runc. */
function waitsFor(holder: GoroutineFact, { shimPid }: ShimGoroutines, facts: Facts): readonly Part[] {
  if (holder.tid !== null) return [`thread:${holder.tid}`];
  if (!doing(holder).startsWith('runc ')) return [];
  const [only, ...others] = runcChildren(facts).filter(child => child.pid !== shimPid);
  return only === undefined || others.length > 0 ? [] : partsOfRunc(only);
}
