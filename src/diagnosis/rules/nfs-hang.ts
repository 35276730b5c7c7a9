import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, inside, partsOf, whoIs } from '../blocked.ts';
import type { Facts, MountFact, Thread } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { threadWords } from '../standstill.ts';

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
    if (waiting.length > 0) yield findingOf(waiting, own.length > 0 ? own : mounts, own.length > 0, facts);
  },
});

const isWaiting = ({ state }: Thread) => state === 'D' || state === 'S';

function findingOf(waiting: readonly Blocked[], mounts: readonly MountFact[], areOwn: boolean, facts: Facts): Finding {
  const [first] = waiting as readonly [Blocked, ...Blocked[]];
  const { thread, stood } = first;
  const messages = facts.kernel?.events.filter(({ kind }) => kind === 'nfs-not-responding') ?? [];
  const only = mounts.length === 1 ? mounts[0] : undefined;
  const frame = inside(thread, ASKS);
  const whole = areOwn && stood.proof === 'looks';
  return {
    verdict: verdictAt(stood.ageMs, whole ? 'proved' : 'likely'),
    says:
      `${whoIs(first, facts)}${waiting.length > 1 ? ` and ${waiting.length - 1} more have` : ' has'} waited for ${formatDuration(stood.ageMs)} for an answer of ` +
      `${only === undefined ? 'an NFS server' : `the NFS server of ${only.source}, mounted at ${only.mountPoint}`}.`,
    because: [
      ...waiting.slice(0, 3).flatMap(({ thread: other }) => other.cites.slice(-1)),
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
      ...waiting.slice(0, 5).map(blocked => ({
        says: threadWords(blocked.thread),
        about: partsOf(blocked),
        waitsFor: only === undefined ? [] : [`filesystem:${only.device}` as const],
      })),
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
