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
import type { Facts } from '../facts.ts';
import { filesystemPart, placeOfBlocked } from '../places.ts';
import { defineRule, type Finding, MIN_STALL_MS, verdictAt } from '../rule.ts';
import { stackHas } from '../standstill.ts';

/** fs/xfs/xfs_log.c: no room in the log for the change, until old changes have been written to their places. */
const NO_ROOM = ['xlog_grant_head_wait', /^xfs_log_(?:reserve|regrant)$/] as const;
/** Workers that write the log itself, `kworker/u8:1+xfs-cil/loop0`. */
const WRITES_LOG = /^(?:xlog_state_get_iclog_space|xlog_cil_\w+|xlog_write\w*|xlog_wait\w*|xfs_log_force\w*)$/;

export const xfsLog = defineRule({
  id: 'xfs-log',
  title: 'The log of an XFS filesystem is full and does not drain',
  kind: 'stall',
  needs: ['nodeThreads'],
  lacks: ({ nodeThreads }) => lacksStacks({ nodeThreads }),
  *judge(facts) {
    const all = blockedThreads(facts);
    const waiting = all.filter(({ thread, stood }) => stood.ageMs >= MIN_STALL_MS && stackHas(thread, NO_ROOM));
    const workers = all.filter(({ thread, stood }) => {
      return stood.ageMs >= MIN_STALL_MS && deviceNamed(thread) !== null && inside(thread, WRITES_LOG) !== null;
    });
    const [first] =
      concerning(waiting, facts).length > 0 ? concerning(waiting, facts) : onOwnDisk(waiting, workers, facts);
    if (first !== undefined) yield findingOf(first, waiting, workers, facts);
  },
});

/** Of another program's wait it is known whose disk it is when the worker of one alone is stuck, and that carries the pod. */
function onOwnDisk(waiting: readonly Blocked[], workers: readonly Blocked[], facts: Facts): readonly Blocked[] {
  const names = new Set(workers.map(({ thread }) => deviceNamed(thread)));
  const isOwn = devicesThatMatter(facts).some(({ name }) => names.has(name));
  return names.size === 1 && isOwn ? waiting : [];
}

function findingOf(first: Blocked, waiting: readonly Blocked[], workers: readonly Blocked[], facts: Facts): Finding {
  const names = new Set(workers.flatMap(({ thread }) => deviceNamed(thread) ?? []));
  const place = placeOfBlocked(first, facts);
  const [only = null] = names.size === 1 ? names : [];
  const name = place?.device?.name ?? only;
  const device = facts.devices?.all.find(candidate => candidate.name === name);
  const filesystem = filesystemPart(device === undefined ? place : { filesystem: device.number });
  const others = waiting.filter(blocked => blocked !== first);
  const frame = inside(first.thread, NO_ROOM[0]);
  const isProved = first.stood.proof === 'looks' || workers.length > 0;
  return {
    verdict: verdictAt(first.stood.ageMs, isProved ? 'proved' : 'likely'),
    says:
      `The log of XFS${name === null ? '' : ` on ${name}`} is full: ${waitersHave([first, ...others], facts)} ` +
      `waited for ${formatDuration(first.stood.ageMs)} for room in it.`,
    because: [...citeThreads([first, ...others]), ...(frame === null ? [] : [frame]), ...citeThreads(workers, 2)],
    next: [
      'The log drains as fast as the disk takes it: see what this report says of that device.',
      "If the disk is idle, look for `XFS … shutdown` and `xfsaild` in the kernel's log and among the threads in D: that is a fault of the filesystem, to be reported with these stacks.",
    ],
    ageMs: first.stood.ageMs,
    ageFrom: first.stood.ageFrom,
    links: [
      ...waitLinks([first], filesystem, ', for room in the log of XFS'),
      ...(filesystem === null
        ? []
        : [
            {
              says: `the log of XFS on ${name ?? place?.words}`,
              about: [filesystem],
              waitsFor: name === null ? [] : [`device:${name}` as const],
            },
          ]),
    ],
  };
}
