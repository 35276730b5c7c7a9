import { formatDuration } from '../../formats/duration.ts';
import {
  type Blocked,
  blockedThreads,
  citeThreads,
  concerning,
  inside,
  lacksStacks,
  waitersHave,
  waitLinks,
  whoIs,
} from '../blocked.ts';
import type { Facts, Thread } from '../facts.ts';
import { filesystemPart, placeOfBlocked } from '../places.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { citeCall, sleepsIn } from '../standstill.ts';

const LOCKS = /^(?:rwsem_down_\w+|(?:__)?down_(?:read|write)\w*|(?:__)?mutex_lock\w*)$/;

/**
 * Callers of locks, innermost where a thread waits for one: kernels that mark the functions of locks as the scheduler's leave them
 * out of stacks and wait channels.
 */
interface Lock {
  readonly words: string;
  readonly callers: RegExp;
  /** What keeps it for long. */
  readonly holders: RegExp;
}

const SUPERBLOCK: Lock = {
  words: 'the superblock of a filesystem',
  callers:
    /^(?:ovl_sync_fs|path_mount|reconfigure_super|do_remount|deactivate_super|super_lock|iterate_supers|freeze_super)$/,
  holders:
    /^(?:sync_filesystem|__?writeback_inodes_sb\w*|writeback_sb_inodes|sync_inodes_sb|generic_shutdown_super|reconfigure_super|do_remount|freeze_super|iterate_supers)$/,
};

const DIRECTORY: Lock = {
  words: 'a directory',
  callers:
    /^(?:path_openat|open_last_lookups|filename_create|do_unlinkat|do_rmdir|lock_rename|lookup_slow|walk_component|iterate_dir)$/,
  holders:
    /^(?:vfs_(?:mkdir|create|unlink|rmdir|rename|symlink|link|readdir)|iterate_dir|lookup_open|open_last_lookups|path_openat)$/,
};

/** A thread that waits for a lock which somebody else holds: a victim. Who holds it is the cause, or waits for it in turn. */
export const secondWaiter = defineRule({
  id: 'second-waiter',
  title: 'A thread waits for a lock that another one holds',
  kind: 'stall',
  needs: [],
  needsOneOf: ['threads', 'nodeThreads'],
  lacks: lacksStacks,
  *judge(facts) {
    const all = blockedThreads(facts);
    const waiting = concerning(all, facts).flatMap(blocked => {
      const lock = waitsForLock(blocked.thread);
      return lock === null ? [] : [{ blocked, lock }];
    });
    const byLock = Map.groupBy(
      waiting,
      ({ blocked, lock }) => `${lock.words} ${placeOfBlocked(blocked, facts)?.words}`,
    );
    for (const [first, ...more] of byLock.values()) {
      if (first === undefined) continue;
      const { blocked, lock } = first;
      yield findingOf([blocked, ...more.map(other => other.blocked)], lock, candidates(blocked, lock, all), facts);
    }
  },
});

function waitsForLock(thread: Thread): Lock | null {
  if (thread.state !== 'D') return null;
  const place = sleepsIn(thread) ?? '';
  const isLock = LOCKS.test(place);
  return (
    [SUPERBLOCK, DIRECTORY].find(
      ({ callers }) => callers.test(place) || (isLock && inside(thread, callers) !== null),
    ) ?? null
  );
}

/** Others in D that may hold it, and do not wait for a lock themselves. */
function candidates({ thread: own }: Blocked, { holders }: Lock, all: readonly Blocked[]): readonly Blocked[] {
  return all.filter(({ thread }) => {
    return (
      thread.tid !== own.tid &&
      thread.state === 'D' &&
      waitsForLock(thread) === null &&
      inside(thread, holders) !== null
    );
  });
}

function findingOf(
  waiting: readonly [Blocked, ...Blocked[]],
  lock: Lock,
  others: readonly Blocked[],
  facts: Facts,
): Finding {
  const [blocked] = waiting;
  const { thread, stood } = blocked;
  const place = placeOfBlocked(blocked, facts);
  const shown = others.slice(0, 3);
  const names = shown.map(other => `${whoIs(other, facts)} in ${sleepsIn(other.thread) ?? 'D'}`);
  const more = others.length > shown.length ? ` and ${others.length - shown.length} more` : '';
  const caller = inside(thread, lock.callers);
  return {
    // That it waits for somebody is proved; who that is, among candidates, is not.
    verdict: verdictAt(stood.ageMs, stood.proof === 'looks' && others.length === 0 ? 'proved' : 'likely'),
    says:
      `${waitersHave(waiting, facts)} waited for ${formatDuration(stood.ageMs)} for ${lock.words}, ` +
      `which somebody else holds: a victim, not the cause` +
      `${names.length === 0 ? '' : `. Candidates: ${names.join(', ')}${more}`}.`,
    because: [...thread.cites, citeCall(thread), ...(caller === null ? [] : [caller]), ...citeThreads(shown)],
    next: [
      names.length === 0
        ? 'Look for the holder among the threads in D of node/blocked.txt: nobody in it is known to hold such a lock.'
        : `Look at the candidates first: as long as the holder waits, this one does.`,
      'Do not end this thread or its shim: that frees nothing.',
    ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: waitLinks(waiting, filesystemPart(place), ', for a lock that somebody else holds'),
  };
}
