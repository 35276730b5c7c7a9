import { formatDuration } from '../../formats/duration.ts';
import { isInside } from '../../formats/goroutines/goroutine.ts';
import { longestWait } from '../daemon-waits.ts';
import type { DaemonGoroutines, Facts, GoroutineFact } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { isIn, standstill } from '../standstill.ts';

/** A commit of bbolt (tx.go Commit), and in it the call that goes to the disk: its goroutine's state may be `runnable`. */
const COMMIT = 'bbolt.(*Tx).Commit';
const CALLS = ['syscall.Fdatasync', 'syscall.Fsync', 'syscall.pwrite', 'syscall.Pwrite', 'unix.Fdatasync'];

export const boltBehindSync = defineRule({
  id: 'bolt-behind-sync',
  title: "containerd's database waits for a sync of its disk",
  kind: 'stall',
  needs: ['daemonGoroutines'],
  *judge(facts) {
    // Of several dumps of one daemon the last: the others tell how long it has waited.
    const last = new Map(facts.daemonGoroutines.toSorted((a, b) => a.sample - b.sample).map(dump => [dump.pid, dump]));
    for (const dump of last.values()) {
      const syncing = dump.all.find(isSyncing);
      if (syncing === undefined) continue;
      const waiting = dump.all.filter(goroutine =>
        isInside(goroutine, ['sync.(*Mutex).Lock', 'bbolt.(*DB).beginRWTx']),
      );
      yield findingOf(dump, syncing, waiting, facts);
    }
  },
});

function isSyncing(goroutine: GoroutineFact): boolean {
  return CALLS.some(call => isInside(goroutine, [call, COMMIT]));
}

function findingOf(
  dump: DaemonGoroutines,
  syncing: GoroutineFact,
  waiting: readonly GoroutineFact[],
  facts: Facts,
): Finding {
  const { pid, daemon } = dump;
  const blocked =
    facts.nodeThreads?.blocked.filter(
      thread => thread.pid === pid && ['fdatasync', 'fsync', 'pwrite64'].some(call => isIn(thread, call)),
    ) ?? [];
  const thread = blocked.length === 1 ? blocked[0] : undefined;
  const stood = thread === undefined ? null : standstill(thread);
  const age = stood ?? longestWait([syncing, ...waiting], dump, facts);
  const ageMs = age?.ageMs ?? null;
  return {
    verdict: verdictAt(ageMs, waiting.length > 0 ? 'proved' : 'likely'),
    says: `${daemon} ${pid} waits in a sync of its database (meta.db)${ageMs === null ? '' : ` for ${formatDuration(ageMs)}`}, and ${waiting.length} writers wait behind it: creates, deletes and leases of all pods.`,
    because: [syncing.cite, ...(thread?.cites.slice(-1) ?? []), ...waiting.slice(0, 2).map(({ cite }) => cite)],
    next: [
      "See what the disk below containerd's root does: the findings about devices and filesystems of this report.",
      "Give containerd's root a disk of its own, apart from the containers' writes. (`no_sync` of the database trades this wait for a corrupt one after a power cut.)",
    ],
    ageMs,
    ageFrom: age?.ageFrom ?? null,
    links: [
      {
        says: `${daemon} ${pid} in a sync of meta.db, ${waiting.length} writers behind it`,
        about: [`daemon:${pid}`, `goroutine:${pid}:${syncing.id}`],
        waitsFor: thread === undefined ? [] : [`thread:${thread.tid}`],
      },
    ],
  };
}
