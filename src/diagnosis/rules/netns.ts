import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, inside, partsOf, waitersHave } from '../blocked.ts';
import type { Facts, KernelEvent } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { threadWords } from '../standstill.ts';

/** net/core/net_namespace.c: waits for pernet_ops_rwsem, which the clean-up of a dying namespace holds. */
const CREATES = 'copy_net_ns';
/** The kernel repeats its message every 10 s as long as it lasts. */
const ONGOING_MS = 60_000;

/** A network interface that cannot be freed keeps the clean-up of its namespace from ending, and no new namespace can be made meanwhile. */
export const netns = defineRule({
  id: 'netns',
  title: 'No network namespace can be made, because an old one does not go away',
  kind: 'stall',
  needs: ['kernel'],
  needsOneOf: ['threads', 'nodeThreads'],
  *judge(facts) {
    const messages = facts.kernel.events.filter(({ kind }) => kind === 'unregister-netdevice');
    // Anybody's: a second waiter in the same place is the same stall, but only a pod that makes one suffers from it.
    const waiting = blockedThreads(facts).filter(
      ({ thread }) => thread.state === 'D' && inside(thread, CREATES) !== null,
    );
    const counts = waiting.filter(({ whose }) => whose !== 'other' || facts.target.target.kind !== 'sandbox');
    const [first] = counts;
    if (first !== undefined) yield findingOf(first, counts, messages, facts);
  },
});

function findingOf(
  first: Blocked,
  waiting: readonly Blocked[],
  messages: readonly KernelEvent[],
  facts: Facts,
): Finding {
  const { thread, stood } = first;
  const last = messages.at(-1);
  const ago = last?.time == null ? null : Math.max(0, facts.capture.startedAt - last.time);
  const isOngoing = last !== undefined && (ago === null || ago <= ONGOING_MS);
  const device = /waiting for (\S+) to become free/.exec(last?.text ?? '')?.[1];
  const frame = inside(thread, CREATES);
  return {
    verdict: verdictAt(stood.ageMs, isOngoing && stood.proof === 'looks' ? 'proved' : 'likely'),
    says:
      `${waitersHave(waiting, facts)} waited for ${formatDuration(stood.ageMs)} to make a network namespace` +
      `${isOngoing ? `: the kernel cannot free interface ${device ?? '?'} of an old one (${messages.length} messages)` : ''}.`,
    because: [
      ...thread.cites.slice(-1),
      ...(frame === null ? [] : [frame]),
      ...messages.slice(-2).map(({ cite }) => cite),
    ],
    next: [
      'It needs a reboot of the node if the message goes on: a reference to the interface was lost, which is a fault of the kernel (moby issue 5618 has collected its causes).',
      'Look for what is common to the nodes that have it: kernel version, IPv6, UDP or NFS in containers, conntrack, the CNI plugin.',
      'Move pods away first; no new pod with a network of its own can start on this node.',
    ],
    ageMs: stood.ageMs,
    ageFrom: stood.ageFrom,
    links: [
      {
        says: `${threadWords(thread)}, making a network namespace`,
        about: [...partsOf(first), `process:${thread.pid}`],
        waitsFor: [],
      },
    ],
  };
}
