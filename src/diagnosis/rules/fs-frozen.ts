import { formatDuration } from '../../formats/duration.ts';
import {
  type Blocked,
  blockedThreads,
  citeThreads,
  concerning,
  lacksStacks,
  waitersHave,
  waitLinks,
} from '../blocked.ts';
import type { Facts, Frame, Thread } from '../facts.ts';
import { filesystemPart, isIdle, placeOfBlocked } from '../places.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { citeFrame } from '../standstill.ts';

/** include/linux/fs.h sb_start_write: a percpu rwsem since 4.3, before that a wait queue below __sb_start_write. */
const WAITS = /^(?:percpu_rwsem_wait|_*percpu_down_read|_*sb_start_(?:write|pagefault|intwrite)|file_start_write)$/;
const SUPERBLOCK = /sb_start_|file_start_write/;

/** Who asks for it, up to the compiler what of it is seen. cgroups and CPU hotplug use the same kind of lock, with other callers. */
const TO_WRITE =
  /^(?:mnt_want_write(?:_file)?|vfs_(?:write|iter_write|fallocate|truncate)|do_iter_write|\w+_page_mkwrite|(?:__)?ext4_journal_\w+|xfs_trans_alloc|btrfs_\w*|start_transaction|touch_atime|file_update_time|ovl_\w+|path_openat|do_(?:renameat2|unlinkat|mkdirat))$/;

/** fsfreeze, or a snapshot tool that has not thawed what it froze: whoever wants to write waits, and nothing is in flight. */
export const fsFrozen = defineRule({
  id: 'fs-frozen',
  title: 'A filesystem is frozen: whoever writes to it waits',
  kind: 'stall',
  needs: [],
  needsOneOf: ['threads', 'nodeThreads'],
  lacks: lacksStacks,
  *judge(facts) {
    const waiting = concerning(blockedThreads(facts), facts, 'always').filter(
      ({ thread }) => placeInStack(thread) !== null,
    );
    const byPlace = Map.groupBy(waiting, blocked => placeOfBlocked(blocked, facts)?.words ?? null);
    for (const all of byPlace.values()) yield* findingOf(all, facts);
  },
});

/** The wait, and who asked for it: its caller. A write to cgroup.procs has vfs_write further out, and waits for another lock. */
function placeInStack({ stack, state }: Thread): readonly Frame[] | null {
  const at = stack?.findIndex(({ symbol }) => symbol !== null && WAITS.test(symbol)) ?? -1;
  if (state !== 'D' || at < 0 || stack === null) return null;
  const rest = stack.slice(at);
  const asks = rest.find(({ symbol }) => symbol !== null && (SUPERBLOCK.test(symbol) || !WAITS.test(symbol)));
  const [wait] = rest;
  if (wait === undefined || asks?.symbol == null) return null;
  return SUPERBLOCK.test(asks.symbol) || TO_WRITE.test(asks.symbol) ? [wait, asks] : null;
}

function* findingOf(all: readonly Blocked[], facts: Facts): Iterable<Finding> {
  const [first] = all;
  if (first === undefined) return;
  const { stood, thread } = first;
  const place = placeOfBlocked(first, facts);
  const idle = isIdle(place?.device ?? null);
  const filesystem = filesystemPart(place);
  const where = place === null ? 'A filesystem' : place.words;
  yield {
    verdict: verdictAt(stood.ageMs, idle ? 'proved' : 'likely'),
    says: `${where} is frozen: ${waitersHave(all, facts)} waited for ${formatDuration(stood.ageMs)} to write to it${idle ? ', and its device has nothing to do' : ''}.`,
    because: [
      ...citeThreads(all),
      ...(placeInStack(thread) ?? []).map(frame => citeFrame(thread, frame)),
      ...(place?.device?.samples.slice(-1).map(({ cite }) => cite) ?? []),
    ],
    next: [
      `Find who froze it: a snapshot or backup agent (fsfreeze, LVM, a cloud volume snapshot, qemu-guest-agent) that did not thaw it again.`,
      `Thaw it with \`fsfreeze -u\` on ${place === null ? 'its mount point' : (place.words.split(' ')[0] ?? 'its mount point')}; a snapshot that is being taken in this moment is then worth nothing.`,
      'Do not restart anything first: what waits goes on by itself after the thaw.',
    ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: [
      ...waitLinks(all, filesystem),
      ...(filesystem === null ? [] : [{ says: `${where} is frozen`, about: [filesystem], waitsFor: [] }]),
    ],
  };
}
