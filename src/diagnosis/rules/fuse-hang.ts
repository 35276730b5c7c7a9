import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, citeThreads, inside, waitersHave, waitLinks } from '../blocked.ts';
import type { Facts, FuseConnection, MountFact } from '../facts.ts';
import { defineRule, type Finding, type Part, verdictAt } from '../rule.ts';

/** fs/fuse/dev.c request_wait_answer, and who calls it. `fuse_dev_*` is the server reading its requests. */
const ASKS = /^(?:request_wait_answer|(?:__)?fuse_simple_\w+|fuse_(?!dev_)\w+)$/;

/** The process that serves a FUSE filesystem has stopped, hangs, or waits for somebody itself. The wait is in S as often as in D. */
export const fuseHang = defineRule({
  id: 'fuse-hang',
  title: 'A FUSE filesystem does not answer',
  kind: 'stall',
  needs: [],
  needsOneOf: ['threads', 'nodeThreads'],
  *judge(facts) {
    const waiting = blockedThreads(facts).filter(({ thread, whose }) => {
      const counts = whose === 'pod' || facts.target.target.kind === 'node';
      return counts && /^[DS]$/.test(thread.state) && inside(thread, ASKS) !== null;
    });
    const [first] = waiting;
    if (first !== undefined) yield findingOf(first, waiting, facts);
  },
});

function findingOf({ thread, stood }: Blocked, waiting: readonly Blocked[], facts: Facts): Finding {
  const connection = connectionOf(facts);
  const mount = connection?.mounts[0] ?? mountOf(facts);
  const frame = inside(thread, ASKS);
  const part = partOf(connection, mount);
  const asked =
    connection === undefined
      ? ''
      : `, with ${connection.waiting === 1 ? 'one request' : `${connection.waiting} requests`} unanswered`;
  const where =
    mount === undefined ? 'a FUSE filesystem' : `the FUSE filesystem at ${mount.mountPoint} (${mount.type})`;
  return {
    verdict: verdictAt(stood.ageMs, connection !== undefined && stood.proof === 'looks' ? 'proved' : 'likely'),
    says: `${waitersHave(waiting, facts)} waited for ${formatDuration(stood.ageMs)} for ${where}${asked}: its server does not answer.`,
    because: [
      ...citeThreads(waiting),
      ...(frame === null ? [] : [frame]),
      ...(connection === undefined ? [] : [connection.cite]),
      ...(mount === undefined ? [] : [mount.cite]),
    ],
    next: [
      'Find the server of that mount (the CSI driver, s3fs, bindfs, lxcfs) and see whether it is stopped, dead, or waits for its own backend.',
      connection === undefined
        ? "If it cannot be saved: write 1 to /sys/fs/fuse/connections/NUMBER/abort; NUMBER is the minor number of the mount's device."
        : `If it cannot be saved: \`echo 1 > /sys/fs/fuse/connections/${connection.connection}/abort\` makes every request fail with ENOTCONN, and sets those who wait free.`,
      "A restart of the driver's pod does not free requests that its old process has taken.",
    ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: [
      ...waitLinks(waiting, part),
      ...(part === null
        ? []
        : [{ says: `the server of ${mount?.mountPoint ?? part} does not answer`, about: [part], waitsFor: [] }]),
    ],
  };
}

/** The connection with unanswered requests: the pod's own, or the only one there is. */
function connectionOf({ fuse }: Facts): FuseConnection | undefined {
  const waiting = fuse?.filter(connection => connection.waiting > 0) ?? [];
  const own = waiting.filter(({ ofPod }) => ofPod);
  const candidates = own.length > 0 ? own : waiting;
  return candidates.length === 1 ? candidates[0] : undefined;
}

function mountOf({ mounts }: Facts): MountFact | undefined {
  const all = mounts?.all.filter(({ type }) => /^fuse(?:blk)?(?:\.|$)/.test(type)) ?? [];
  const own = all.filter(({ ofPod }) => ofPod);
  const candidates = own.length > 0 ? own : all;
  return candidates.length === 1 ? candidates[0] : undefined;
}

function partOf(connection: FuseConnection | undefined, mount: MountFact | undefined): Part | null {
  if (connection !== undefined) return `fuse:${connection.connection}`;
  return mount === undefined ? null : `fuse:${mount.device.slice(mount.device.indexOf(':') + 1)}`;
}
