import { formatDuration } from '../../formats/duration.ts';
import { longestWait } from '../daemon-waits.ts';
import type { DaemonGoroutines, Facts, GoroutineFact } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';

/** A few waiters are any busy moment. */
const MANY = 5;

/** Lock of sync, and of what only wraps it: `logrus.(*MutexWrap).Lock`. */
const IN_LOCK = /(?:^|\/)sync\.\(\*(?:RW)?Mutex\)\.R?Lock$/;
const WRAPPED = /\)\.R?Lock$/;
/** That is the rule bolt-behind-sync. */
const BOLT = /bbolt\.\(\*DB\)\.(?:beginRWTx|Batch)$/;

export const containerdLock = defineRule({
  id: 'containerd-lock',
  title: 'Much of containerd waits for one lock',
  kind: 'stall',
  needs: ['daemonGoroutines'],
  *judge(facts) {
    for (const [, dumps] of Map.groupBy(facts.daemonGoroutines, ({ pid }) => pid)) {
      const [first, ...later] = dumps.toSorted((a, b) => a.sample - b.sample);
      const last = later.at(-1) ?? first;
      if (first === undefined || last === undefined) continue;
      for (const [wanted, waiters] of waitersIn(last)) {
        const before = last === first ? null : (waitersIn(first).get(wanted)?.length ?? 0);
        // One for each container, the same as before, is how it is built. Growth is what tells.
        if (waiters.length >= MANY && (before === null || waiters.length > before)) {
          yield findingOf({ wanted, waiters, before, dump: last }, facts);
        }
      }
    }
  },
});

interface Crowd {
  /** Function that calls Lock. */
  readonly wanted: string;
  readonly waiters: readonly GoroutineFact[];
  /** How many there were in the first dump; null with one dump. */
  readonly before: number | null;
  readonly dump: DaemonGoroutines;
}

function waitersIn({ all }: DaemonGoroutines): ReadonlyMap<string, readonly GoroutineFact[]> {
  const waiting = all.flatMap(goroutine => {
    const wanted = wantedBy(goroutine);
    return wanted === null || BOLT.test(wanted) ? [] : [{ wanted, goroutine }];
  });
  const byFunction = Map.groupBy(waiting, ({ wanted }) => wanted);
  return new Map([...byFunction].map(([wanted, of]) => [wanted, of.map(({ goroutine }) => goroutine)]));
}

/** Older Go says `semacquire` of all of sync, so the frames tell; below Lock there are only the runtime's own. Null for one in no lock. */
function wantedBy({ frames }: GoroutineFact): string | null {
  const at = frames.findIndex(({ function: name }) => IN_LOCK.test(name));
  if (at < 0 || at > 4) return null;
  return frames.slice(at + 1).find(({ function: name }) => !WRAPPED.test(name))?.function ?? null;
}

function findingOf({ wanted, waiters, before, dump }: Crowd, facts: Facts): Finding {
  const waited = longestWait(waiters, dump, facts);
  const name = wanted.slice(wanted.lastIndexOf('/') + 1);
  const holder = holderOf(wanted, waiters, dump);
  const isLog = wanted.includes('logrus.');
  const growth = before === null ? '' : `, ${before} of them in the dump before`;
  const held = holder === null ? '' : ` Goroutine ${holder.id} is inside and may hold it.`;
  return {
    verdict: verdictAt(waited?.ageMs ?? null, before === null ? 'likely' : 'proved'),
    says: `${waiters.length} goroutines of ${dump.daemon} ${dump.pid} wait for the lock of ${name}${waited === null ? '' : ` for ${formatDuration(waited.ageMs)} and more`}${growth}: requests pile up behind it.${held}`,
    because: [...waiters.slice(0, 2).map(({ cite }) => cite), ...(holder === null ? [] : [holder.cite])],
    next: [
      isLog
        ? 'Its log is not read: see whether journald, or whatever reads its stderr, is stopped, full or slow.'
        : 'Look in the dump for who is inside of this type and does not wait for the lock: what that goroutine does is the cause.',
      ...(before === null
        ? ['Take a second dump some seconds later (`--daemons`): a lock is stuck when more wait for it then.']
        : []),
      "Keep both dumps for containerd's maintainers before the daemon is restarted.",
    ],
    ageMs: waited?.ageMs ?? null,
    ageFrom: waited?.ageFrom ?? null,
    links: [
      {
        says: `${waiters.length} goroutines of ${dump.daemon} ${dump.pid} in the lock of ${name}`,
        about: [`daemon:${dump.pid}`],
        waitsFor: holder === null ? [] : [`goroutine:${dump.pid}:${holder.id}`],
      },
    ],
  };
}

/** In a method of the same type, further in than its first step, and in no lock: a candidate, no proof. */
function holderOf(wanted: string, waiters: readonly GoroutineFact[], { all }: DaemonGoroutines): GoroutineFact | null {
  const type = /^(.*\(\*?\w+\))\.\w+/.exec(wanted)?.[1];
  if (type === undefined) return null;
  const inside = all.filter(goroutine => {
    if (waiters.includes(goroutine) || wantedBy(goroutine) !== null) return false;
    return goroutine.frames.some(({ function: called }, index) => index > 0 && called.startsWith(`${type}.`));
  });
  return inside.length === 1 ? (inside[0] ?? null) : null;
}
