import { formatDuration } from '../../formats/duration.ts';
import type { Facts, GoLock, GoroutineFact, ShimGoroutines } from '../facts.ts';
import { doing } from '../goroutine-words.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { partsOfRunc, runcChildren } from '../runc-children.ts';
import { standstill } from '../standstill.ts';
import { isOlder } from '../versions.ts';

/** containerd#13483: Create lets go of the lock while it runs runc. */
const FIXED = '2.3.2';

export const createHoldsLock = defineRule({
  id: 'create-holds-lock',
  title: 'One request of the shim keeps the lock that all of them need',
  kind: 'stall',
  needs: ['goroutines'],
  *judge(facts) {
    for (const dump of facts.goroutines) {
      const held = dump.locks.find(({ name, holder }) => name === 'service.mu' && holder !== null);
      if (held?.holder != null) yield findingOf(dump, held, held.holder, facts);
      else yield* nobodyAskedYet(dump, facts);
    }
  },
});

interface Age {
  readonly ageMs: number | null;
  readonly ageFrom: string | null;
}

/** Of the thread below it, of the runc that it waits for, of the oldest that waits behind it. */
function ageOf(
  holder: GoroutineFact,
  waiters: readonly GoroutineFact[],
  { entry, shimPid }: ShimGoroutines,
  facts: Facts,
): Age {
  const thread = facts.threads?.all.find(({ tid }) => tid === holder.tid);
  const stood = thread === undefined ? null : standstill(thread);
  if (stood !== null) return stood;
  const oldest = [holder, ...waiters].toSorted((a, b) => (b.minutes ?? 0) - (a.minutes ?? 0))[0];
  const runc = runcChildren(facts).find(
    child => child.shimPid === shimPid && (child.command === 'create' || child.command === 'exec'),
  );
  const runcMs = runc?.row?.ageMs ?? 0;
  const goMs = (oldest?.minutes ?? 0) * 60_000;
  if (runcMs >= goMs && runcMs > 0)
    return { ageMs: runcMs, ageFrom: `the age of runc ${runc?.pid} in node/processes.txt` };
  return goMs > 0
    ? { ageMs: goMs, ageFrom: `${oldest?.minutes} minutes of goroutine ${oldest?.id} in ${entry}` }
    : { ageMs: null, ageFrom: null };
}

function findingOf(
  dump: ShimGoroutines,
  { waiters, operation, address }: GoLock,
  holder: GoroutineFact,
  facts: Facts,
): Finding {
  const { shimPid } = dump;
  const age = ageOf(holder, waiters, dump, facts);
  const isCreate = operation === 'Create';
  const calls = [...new Set(waiters.flatMap(({ rpc }) => rpc ?? []))].join(', ');
  const connect = facts.shims?.find(({ pid }) => pid === shimPid)?.connect;
  return {
    verdict: verdictAt(age.ageMs, 'proved'),
    says: `Goroutine ${holder.id} of shim ${shimPid} is in ${doing(holder)} and keeps the lock of the whole pod${age.ageMs === null ? '' : ` for ${formatDuration(age.ageMs)}`}: ${waiters.length === 1 ? 'a request waits' : `${waiters.length} requests wait`} behind it (${calls}), those of its other containers too.`,
    because: [
      holder.cite,
      ...waiters.slice(0, 3).map(({ cite }) => cite),
      ...(connect?.answered === false ? [connect.cite] : []),
    ],
    next: [
      isCreate
        ? 'Look for what the create waits for: the findings about runc, mounts and disks of this report.'
        : 'An exec that hangs, and then any exit of the pod, is what leads here: end the exec (`ps` below the shim shows its runc).',
      isCreate
        ? `Upgrade containerd to ${FIXED} or later: there other containers of the pod go on (containerd pull request 13483; not in 1.7.34, 2.0.11, 2.1.9, 2.2.7 and older).`
        : 'Upgrade containerd to 1.6.22, 1.7.3 or later: there the exit of a process does not wait for the exec.',
      'Do not restart containerd meanwhile: Connect waits for this lock as well, so the shim would lose its bundle.',
    ],
    ...age,
    links: [
      {
        says: `${waiters.length === 1 ? 'a request' : `${waiters.length} requests`} to shim ${shimPid} behind the lock of its service`,
        about: [lockOf(shimPid, address)],
        waitsFor: [`goroutine:${shimPid}:${holder.id}`],
      },
      {
        says: `shim ${shimPid} goroutine ${holder.id} in ${doing(holder)}, keeping the lock of the whole pod`,
        about: [`goroutine:${shimPid}:${holder.id}`],
        waitsFor: below(holder, dump, facts),
      },
    ],
  };
}

const lockOf = (shimPid: number, address: string | null) => `lock:${shimPid}:${address ?? 'service.mu'}` as const;

function below(holder: GoroutineFact, { shimPid }: ShimGoroutines, facts: Facts) {
  const runc = runcChildren(facts).find(
    child => child.shimPid === shimPid && (child.command === 'create' || child.command === 'exec'),
  );
  if (holder.tid !== null) return [`thread:${holder.tid}` as const];
  return runc === undefined ? [] : partsOfRunc(runc);
}

/**
 * A create that hangs holds the lock in these versions, whether or not somebody has come to wait at the time of the dump. A Connect that
 * was not answered has come.
 */
function* nobodyAskedYet(dump: ShimGoroutines, facts: Facts): Iterable<Finding> {
  const { shimPid } = dump;
  const create = dump.all.find(
    ({ rpc, frames }) => rpc === 'Create' && frames.some(({ function: name }) => name.endsWith('.NewContainer')),
  );
  const connect = facts.shims?.find(({ pid }) => pid === shimPid)?.connect ?? null;
  const version = facts.capture.versions.containerd;
  const holds = isOlder(version, FIXED) ?? (connect?.answered === false ? true : null);
  if (create === undefined || holds !== true || connect?.answered === true) return;
  const age = ageOf(create, [], dump, facts);
  const held = { name: 'service.mu', address: null, holder: create, operation: 'Create', joinedBy: null } as const;
  const found = findingOf(dump, { ...held, waiters: [] }, create, facts);
  const long = age.ageMs === null ? '' : ` for ${formatDuration(age.ageMs)}`;
  const whose = version === null ? 'the shim' : `containerd ${version}`;
  yield {
    ...found,
    verdict: verdictAt(age.ageMs, connect === null ? 'likely' : 'proved'),
    says: `Goroutine ${create.id} of shim ${shimPid} is in ${doing(create)}${long}, and ${whose} keeps the lock of the whole pod meanwhile: ${connect === null ? 'the next request, whichever it is, will wait' : 'Connect was not answered'}.`,
    links: found.links.slice(1),
  };
}
