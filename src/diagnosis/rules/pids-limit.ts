import type { Citation } from '../citation.ts';
import { nameOf } from '../exits.ts';
import type { ContainerCgroup, Facts } from '../facts.ts';
import { defineRule, type Finding } from '../rule.ts';

type Pids = NonNullable<ContainerCgroup['pids']>;

/** fork and clone say EAGAIN in a cgroup that has as many tasks as it may have: probes fail, and runc cannot join. */
export const pidsLimit = defineRule({
  id: 'pids-limit',
  title: 'The container may not start another process or thread',
  kind: 'context',
  needs: [],
  needsOneOf: ['containers', 'cgroups'],
  *judge(facts) {
    for (const { who, pids } of ownLimits(facts)) {
      const isFull = pids.max !== null && pids.current >= pids.max;
      const refusals = refusalsIn(facts);
      const wasRefused = (pids.maxEvents ?? 0) > 0;
      if (!isFull && !wasRefused) continue;
      yield findingOf(who, pids, { isFull, wasRefused, refusals });
    }
  },
});

interface Signs {
  readonly isFull: boolean;
  readonly wasRefused: boolean;
  readonly refusals: readonly Citation[];
}

function findingOf(who: string, pids: Pids, { isFull, wasRefused, refusals }: Signs): Finding {
  const times =
    pids.maxEvents === null || pids.maxEvents === 0
      ? ''
      : `, and ${pids.maxEvents === 1 ? 'a fork was' : `${pids.maxEvents} forks were`} refused`;
  return {
    // Refused once, and room by now: it may have been the reason for what failed then.
    verdict: isFull && (wasRefused || refusals.length > 0) ? 'proved' : isFull ? 'likely' : 'possible',
    says: `${who} has ${pids.current} of ${pids.max ?? 'any number of'} processes and threads${times}: ${isFull ? 'it cannot start another one, nor can an exec probe' : 'it was at its limit before'}.`,
    because: [pids.cite, ...refusals.slice(-2)],
    next: [
      'Find out what it has so many of: `ps -eLo pid,tid,comm --ppid …`, or the table of processes of this bundle; zombies count too.',
      "Raise the kubelet's podPidsLimit, or the limit of the container, if the number is meant.",
      '`too many open files` is another limit (nofile, or fs.inotify.max_user_instances).',
    ],
    ageMs: null,
    ageFrom: null,
    links: [],
  };
}

/** Of its containers, and of the pod's cgroup above them. */
function ownLimits({ containers, cgroups, target }: Facts): readonly { readonly who: string; readonly pids: Pids }[] {
  const own = (containers ?? []).flatMap(({ cgroup, ...container }) => {
    return cgroup === null || cgroup === 'absent' || cgroup.pids === null
      ? []
      : [{ who: nameOf(container), pids: cgroup.pids }];
  });
  const uid = target.podUid;
  const above = (cgroups?.notable ?? []).flatMap(({ path, pids }) => {
    const isPod = uid !== null && (path.endsWith(`pod${uid}`) || path.endsWith(`pod${uid.replaceAll('-', '_')}.slice`));
    return isPod && pids !== null ? [{ who: 'The pod', pids }] : [];
  });
  return [...above, ...own];
}

function refusalsIn({ kernel, logs }: Facts): readonly Citation[] {
  const rejected =
    kernel?.events.filter(({ kind, ofPod }) => kind === 'fork-rejected' && ofPod).map(({ cite }) => cite) ?? [];
  const failed =
    logs?.events
      .filter(({ kind, container }) => kind === 'cannot-fork' && container !== null)
      .map(({ cite }) => cite) ?? [];
  return [...rejected, ...failed];
}
