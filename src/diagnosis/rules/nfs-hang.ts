import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, citeThreads, inside, waitersHave, waitLinks } from '../blocked.ts';
import type { Facts, MountFact, Thread } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';

/** net/sunrpc/sched.c, fs/nfs: a request to the server that has no answer. A hard mount waits for ever; its wait is killable at best. */
const ASKS = /^(?:rpc_wait_bit_killable|__rpc_(?:execute|wait_for_completion_task)|rpc_run_task|nfs\d?_\w+)$/;

/** The kubelet, and what it runs to take a volume away. */
const UNMOUNTS = /^(?:kubelet|kubelite|umount|umount\.nfs\w*|mount\.nfs\w*)$/;

export const nfsHang = defineRule({
  id: 'nfs-hang',
  title: 'An NFS server does not answer',
  kind: 'stall',
  needs: [],
  needsOneOf: ['threads', 'nodeThreads'],
  *judge(facts) {
    const mounts = facts.mounts?.all.filter(({ type }) => /^nfs\d?$/.test(type)) ?? [];
    const own = mounts.filter(({ ofPod }) => ofPod);
    const waiting = blockedThreads(facts).filter(({ thread, whose }) => {
      // Another pod's NFS is another pod's stall; a umount of the kubelet counts where this pod has such a volume.
      const counts =
        whose === 'pod' || facts.target.target.kind === 'node' || (UNMOUNTS.test(thread.comm) && own.length > 0);
      return counts && isWaiting(thread) && inside(thread, ASKS) !== null;
    });
    const [first] = waiting;
    if (first !== undefined) yield findingOf(first, waiting, own.length > 0 ? own : mounts, facts);
  },
});

const isWaiting = ({ state }: Thread) => state === 'D' || state === 'S';

function findingOf(
  { thread, stood }: Blocked,
  waiting: readonly Blocked[],
  mounts: readonly MountFact[],
  facts: Facts,
): Finding {
  const messages = facts.kernel?.events.filter(({ kind }) => kind === 'nfs-not-responding') ?? [];
  const only = mounts.length === 1 ? mounts[0] : undefined;
  const frame = inside(thread, ASKS);
  const whole = mounts.some(({ ofPod }) => ofPod) && stood.proof === 'looks';
  return {
    verdict: verdictAt(stood.ageMs, whole ? 'proved' : 'likely'),
    says:
      `${waitersHave(waiting, facts)} waited for ${formatDuration(stood.ageMs)} for an answer of ` +
      `${only === undefined ? 'an NFS server' : `the NFS server of ${only.source}, mounted at ${only.mountPoint}`}.`,
    because: [
      ...citeThreads(waiting),
      ...(frame === null ? [] : [frame]),
      ...mounts.slice(0, 3).map(({ cite }) => cite),
      ...messages.slice(-2).map(({ cite }) => cite),
    ],
    next: [
      `Ask the server from this node: \`rpcinfo -t SERVER nfs\`, and look at its network path and its load.`,
      'When it answers again all goes on. If it will not, `umount -f` of that mount makes the requests fail; `umount -l` only hides it.',
      'Consider `soft` or a shorter `timeo` for volumes whose programs can live with an error.',
    ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: [
      ...waitLinks(waiting, only === undefined ? null : `filesystem:${only.device}`),
      ...(only === undefined
        ? []
        : [
            {
              says: `the NFS server of ${only.source} does not answer`,
              about: [`filesystem:${only.device}` as const],
              waitsFor: [],
            },
          ]),
    ],
  };
}
