import { formatDuration } from '../../formats/duration.ts';
import type { Facts, ShimFacts } from '../facts.ts';
import { type Citation, defineRule, type Finding, type Verdict } from '../rule.ts';
import { standstill } from '../standstill.ts';

export const restartWarning = defineRule({
  id: 'restart-warning',
  title: 'What a restart of containerd would destroy here',
  kind: 'context',
  needs: ['shims'],
  *judge(facts) {
    for (const shim of facts.shims) {
      const deaf = shim.alive === true && !shim.bundleDeleted ? deafness(shim, facts) : null;
      if (deaf !== null) yield findingOf(shim, deaf, facts);
    }
  },
});

interface Deafness {
  readonly why: string;
  readonly verdict: Verdict;
  readonly because: readonly Citation[];
}

/** containerd waits 5 s for the answer to Connect when it starts (io.containerd.timeout.shim.load). */
const LOAD_MS = 5000;

/** Why the shim would not answer; null where it did answer, or where nothing speaks against it. */
function deafness(shim: ShimFacts, { threads, goroutines }: Facts): Deafness | null {
  const { pid, connect } = shim;
  if (connect?.answered === true) return null;
  const leader = threads?.all.find(({ tid }) => tid === pid);
  const stood = leader === undefined ? null : standstill(leader);
  if (leader !== undefined && /^[Tt]$/.test(shim.state ?? '') && stood !== null && stood.ageMs >= LOAD_MS) {
    return { why: `is stopped for ${formatDuration(stood.ageMs)}`, verdict: 'proved', because: leader.cites };
  }
  if (connect !== null) {
    const verdict = connect.tookMs >= LOAD_MS ? 'proved' : 'likely';
    return { why: `has not answered Connect in ${formatDuration(connect.tookMs)}`, verdict, because: [connect.cite] };
  }
  const lock = goroutines
    ?.find(({ shimPid }) => shimPid === pid)
    ?.locks.find(({ name, holder }) => name === 'service.mu' && holder !== null);
  if (lock?.holder == null) return null;
  return { why: 'keeps the lock that Connect needs', verdict: 'likely', because: [lock.holder.cite] };
}

function findingOf(
  { pid }: ShimFacts,
  { why, verdict, because }: Deafness,
  { containers, logs, target }: Facts,
): Finding {
  const own = containers?.filter(({ shimPid, init }) => shimPid === pid && init === 'alive') ?? [];
  const check = logs?.events.findLast(({ kind }) => kind === 'health-check-failed');
  const names = own
    .map(({ id, name, kind }) => (kind === 'sandbox' ? 'the sandbox' : (name ?? id.slice(0, 12))))
    .join(', ');
  return {
    verdict,
    says: `Do not restart containerd now: shim ${pid} ${why}, so the new containerd would give it up after 5 s, delete its bundle and kill what runs in it (${names === '' ? 'nothing that is known' : names}); the evidence goes with it.`,
    because: [...because, ...(check === undefined ? [] : [check.cite])],
    next: [
      'Free the shim first, or drain the node and accept the loss.',
      ...(target.runtime === 'docker' || check !== undefined
        ? ['dockerd restarts its own containerd by itself after three failed health checks of 3 s each.']
        : []),
    ],
    ageMs: null,
    ageFrom: null,
    links: [],
  };
}
