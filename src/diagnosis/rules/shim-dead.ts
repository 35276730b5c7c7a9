import { formatDuration } from '../../formats/duration.ts';
import { cite } from '../citation.ts';
import type { Facts, LogEvent, LogKind, Process, ProcessTable } from '../facts.ts';
import { defineRule, type Finding, type Part, verdictAt } from '../rule.ts';

const LOST: ReadonlySet<LogKind> = new Set([
  'shim-disconnected',
  'ttrpc-closed',
  'exit-status-failed',
  'dead-shim-cleanup',
]);
const TASKS = /\/io\.containerd\.runtime\.v[12]\.(?:task|linux)\/[^/]+\/([^/]+)$/;

export const shimDead = defineRule({
  id: 'shim-dead',
  title: 'The shim is dead, and what it kept is still there',
  kind: 'stall',
  needs: ['processes'],
  *judge(facts) {
    const left = leftWithoutShim(facts);
    if (left.length > 0) yield findingOf(left, facts);
  },
});

interface Left {
  readonly id: string;
  readonly bundle: Finding['because'][number];
}

/**
 * Bundle directories of the target whose shim is not there. A containerd that was only restarted leaves its shims alive, and its
 * log has `shim disconnected` as well.
 */
function leftWithoutShim({
  target: { target },
  shims,
  containers,
  processes,
}: Facts & { processes: ProcessTable }): readonly Left[] {
  if (target.kind === 'remnant') {
    const ids = target.remnant.paths.flatMap(path => {
      const id = TASKS.exec(path)?.[1];
      return id === undefined ? [] : [{ id, bundle: cite('plan.json', null, path) }];
    });
    return ids.some(({ id }) => servesAny(processes, id)) ? [] : ids;
  }
  const dead = new Set(shims?.filter(({ alive }) => alive === false).map(({ pid }) => pid));
  return (containers ?? []).flatMap(({ id, shimPid, bundle }) =>
    shimPid !== null && dead.has(shimPid) && bundle !== null && bundle !== 'absent'
      ? [{ id, bundle: bundle.cite }]
      : [],
  );
}

function servesAny({ byPid }: ProcessTable, id: string): boolean {
  return [...byPid.values()].some(
    ({ args, stat }) =>
      /containerd-shim/.test(args.split(' ', 1)[0] ?? '') && args.includes(id) && !stat.startsWith('Z'),
  );
}

function findingOf(left: readonly Left[], facts: Facts & { processes: ProcessTable }): Finding {
  const ids = new Set(left.map(({ id }) => id));
  const own = facts.logs?.events.filter(({ container }) => container !== null && ids.has(container)) ?? [];
  const lost = own.find(({ kind }) => LOST.has(kind));
  const ageMs = lost?.time == null ? null : Math.max(0, facts.capture.startedAt - lost.time);
  const orphans = orphansOf(facts, ids);
  const first = left[0] as Left;
  const gone = facts.shims?.find(({ alive }) => alive === false);
  const process =
    orphans.length === 0
      ? ''
      : ` ${orphans.length} of its processes live on without it (${orphans.map(({ pid }) => pid).join(', ')}).`;
  return {
    verdict: verdictAt(ageMs, lost === undefined ? 'likely' : 'proved'),
    says: `The pod's shim is dead${ageMs === null ? '' : ` for ${formatDuration(ageMs)}`}, and its bundle is still there: containerd has not cleaned up after it.${process}`,
    because: [
      first.bundle,
      gone === undefined ? cite('node/processes.txt', null, `no containerd-shim for ${first.id}`) : gone.cite,
      ...(lost === undefined ? [] : [lost.cite]),
      ...orphans.slice(0, 2).map(({ cite: row }) => row),
    ],
    next: [
      "Look for why the shim died: an OOM kill in the kernel's log, somebody's `kill`, a panic in containerd's log.",
      'See whether containerd is alive and has tried: `cleaning up dead shim` and what follows it in its log; it runs `containerd-shim … delete`, which may hang in runc or in an umount itself.',
      ...(orphans.length === 0
        ? []
        : [
            'The processes that are left have nobody who reaps or stops them: they hold the volumes and the network of the pod until they are ended.',
          ]),
    ],
    ageMs,
    ageFrom: ageMs === null ? null : `${(lost as LogEvent).kind} in ${(lost as LogEvent).cite.entry}`,
    links: [{ says: 'the shim is dead', about: [...ids].map((id): Part => `task:${id}`), waitsFor: [] }],
  };
}

/** Inits that are still there; their parent is PID 1, or another subreaper. */
function orphansOf(
  { containers, processes }: Facts & { processes: ProcessTable },
  ids: ReadonlySet<string>,
): readonly Process[] {
  return (containers ?? []).flatMap(({ id, initPid, init }) =>
    ids.has(id) && init === 'alive' && initPid !== null ? (processes.byPid.get(initPid) ?? []) : [],
  );
}
