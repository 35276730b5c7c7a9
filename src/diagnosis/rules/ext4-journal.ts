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
} from '../blocked.ts';
import { deviceNamed, devicesThatMatter } from '../disk-waits.ts';
import type { Device, Facts } from '../facts.ts';
import { filesystemPart, placeOfBlocked } from '../places.ts';
import { defineRule, type Finding, MIN_STALL_MS, verdictAt } from '../rule.ts';
import { sleepsIn } from '../standstill.ts';

/** fs/jbd2/transaction.c, journal.c: who wants to begin a change, to change a block, or to know that a transaction is on the disk. */
const WAITS =
  /^(?:jbd2_log_wait_commit|log_wait_commit|jbd2_complete_transaction|start_this_handle|wait_transaction_(?:locked|switching)|add_transaction_credits|do_get_write_access|jbd2_journal_(?:start\w*|get_write_access|extend|restart\w*|force_commit\w*|flush|lock_updates)|jbd2__journal_(?:start|restart))$/;

/** One transaction of ext4 waits for the disk, and every change to the filesystem waits for it. */
export const ext4Journal = defineRule({
  id: 'ext4-journal',
  title: 'The journal of an ext4 filesystem does not get on',
  kind: 'stall',
  needs: ['nodeThreads'],
  lacks: ({ nodeThreads }) => lacksStacks({ nodeThreads }),
  *judge(facts) {
    const all = blockedThreads(facts);
    const waiting = concerning(all, facts).filter(({ thread, stood }) => {
      return (
        thread.state === 'D' &&
        stood.ageMs >= MIN_STALL_MS &&
        !isCommitter(thread.comm) &&
        inside(thread, WAITS) !== null
      );
    });
    const committers = all.filter(({ thread }) => thread.state === 'D' && isCommitter(thread.comm));
    const byCommitter = Map.groupBy(waiting, blocked => committerOf(blocked, committers, facts));
    for (const [committer, group] of byCommitter) yield* findingOf(group, committer, facts);
  },
});

const isCommitter = (comm: string) => comm.startsWith('jbd2/');

/** The thread that commits the journal of this filesystem; null when it is not in D, or cannot be told among several. */
function committerOf(blocked: Blocked, committers: readonly Blocked[], facts: Facts): Blocked | null {
  const place = placeOfBlocked(blocked, facts);
  const named = (device: Device | null | undefined) =>
    committers.find(({ thread }) => device != null && deviceNamed(thread) === device.name);
  if (place?.device != null) return named(place.device) ?? null;
  const own = devicesThatMatter(facts).flatMap(device => named(device) ?? []);
  const candidates = own.length > 0 ? own : committers;
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}

function* findingOf(group: readonly Blocked[], committer: Blocked | null, facts: Facts): Iterable<Finding> {
  const [first] = group;
  if (first === undefined) return;
  const name = committer === null ? null : deviceNamed(committer.thread);
  const device = facts.devices?.all.find(candidate => candidate.name === name) ?? null;
  const filesystem = filesystemPart(device === null ? placeOfBlocked(first, facts) : { filesystem: device.number });
  const where = name === null ? 'an ext4 filesystem' : `ext4 on ${name}`;
  const frame = inside(first.thread, WAITS);
  const isProved = committer !== null && (first.stood.proof === 'looks' || committer.stood.ageMs >= MIN_STALL_MS);
  yield {
    verdict: verdictAt(first.stood.ageMs, isProved ? 'proved' : 'likely'),
    says:
      `${waitersHave(group, facts)} waited for ${formatDuration(first.stood.ageMs)} for the journal of ${where}` +
      `${committer === null ? '' : `; its commit waits in ${sleepsIn(committer.thread) ?? 'D'}`}.`,
    because: [
      ...citeThreads(group),
      ...(frame === null ? [] : [frame]),
      ...(committer === null ? [] : committer.thread.cites.slice(-1)),
    ],
    next: [
      'The journal waits for the disk: see what this report says of that device.',
      'In ordered mode a commit writes the data of all files first that were appended to: one writer of much data makes all others wait for it.',
    ],
    ageMs: first.stood.ageMs,
    ageFrom: first.stood.ageFrom,
    links: [
      ...waitLinks(group, filesystem),
      ...(filesystem === null
        ? []
        : [
            {
              says: `the journal of ${where}`,
              about: [filesystem],
              waitsFor: name === null ? [] : [`device:${name}` as const],
            },
          ]),
    ],
  };
}
