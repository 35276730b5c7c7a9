import { formatDuration } from '../../formats/duration.ts';
import { cite } from '../citation.ts';
import type { Facts, ShimFacts } from '../facts.ts';
import { type Citation, defineRule, type Finding, type Verdict } from '../rule.ts';

export const shimLeaked = defineRule({
  id: 'shim-leaked',
  title: 'A shim that containerd does not know any more',
  kind: 'context',
  needs: ['shims'],
  *judge(facts) {
    for (const shim of facts.shims) {
      if (shim.alive !== true || shim.children === null) continue;
      const given = givenUp(shim, facts);
      if (given.length > 0) yield findingOf(shim, given, facts);
    }
  },
});

/** What says that containerd has done with it. That its parent is PID 1 says nothing: so it is with every shim. */
function givenUp(
  { pid, bundleDeleted, children }: ShimFacts,
  { containers, commands, target: { target } }: Facts,
): readonly Citation[] {
  const own = containers?.filter(({ shimPid }) => shimPid === pid) ?? [];
  const asked =
    commands?.filter(
      ({ tool, outcome, exitCode, what }) =>
        tool === 'ctr' && what.includes('info') && outcome === 'error' && exitCode === 1,
    ) ?? [];
  const unknown = asked.filter(
    ({ argv, stderr }) => /not found/.test(stderr) && own.some(({ id }) => argv.includes(id)),
  );
  const isUnknown = own.length > 0 && unknown.length === own.length;
  // With children and a bundle it is just a pod that was removed from the list while it stops.
  if (!bundleDeleted && !(isUnknown && children?.length === 0)) return [];
  const shim = target.kind === 'sandbox' ? target.sandbox.shims.find(other => other.pid === pid) : undefined;
  const deleted = cite('plan.json', null, `shim ${pid} in ${shim?.bundle ?? 'its bundle'}, which was deleted`);
  return [...(bundleDeleted ? [deleted] : []), ...unknown.map(command => command.cite)];
}

function findingOf(shim: ShimFacts, given: readonly Citation[], facts: Facts): Finding {
  const { pid, bundleDeleted, children, ageMs, firstLook } = shim;
  const below = children?.filter(({ state }) => state !== 'Z') ?? [];
  const quietMs =
    firstLook === null || firstLook.length === 0
      ? null
      : Math.min(...firstLook.map(({ blockedForMs }) => blockedForMs ?? 0));
  const load = facts.logs?.events.find(({ kind }) => kind === 'load-failed' || kind === 'shim-cleanup-failed');
  // A shim on its way out lives for moments after its bundle: up to 5 s until its connections are closed (shim.go run).
  const verdict: Verdict = bundleDeleted && quietMs !== null && quietMs >= EXIT_MS ? 'proved' : 'likely';
  const age = ageMs === null ? '' : `, ${formatDuration(ageMs)} old`;
  return {
    verdict,
    says:
      below.length === 0
        ? `Shim ${pid}${age} is left over: it has no process below it, and containerd has ${bundleDeleted ? 'deleted its bundle' : 'no record of it'}.`
        : `containerd has given up shim ${pid}${age} and deleted its bundle, while ${below.length} of its processes live on (${below
            .map(({ pid: child, comm }) => `${child} ${comm}`)
            .slice(0, 3)
            .join(', ')}).`,
    because: [...given, ...below.slice(0, 2).map(({ cite }) => cite), ...(load === undefined ? [] : [load.cite])],
    next:
      below.length === 0
        ? [
            `It does no harm but its memory: end it with SIGTERM to ${pid} once its evidence is taken.`,
            'Leaked shims come from a Shutdown that took over 3 s, or from a containerd that was restarted meanwhile: see containerd issues 9309, 7496 and 8381.',
          ]
        : [
            'These processes are unmanaged: CRI has called the container exited and the kubelet may have started another one beside them. Stop the workload by hand.',
            'It happens when containerd is restarted while the shim does not answer Connect for 5 s.',
          ],
    ageMs: null,
    ageFrom: null,
    links: [],
  };
}

const EXIT_MS = 5000;
