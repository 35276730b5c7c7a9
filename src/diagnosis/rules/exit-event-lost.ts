import { believedRunning, endedFor, exitOf, nameOf } from '../exits.ts';
import type { ContainerFacts, DaemonFacts, Facts, LogEvent, LogKind, ShimGoroutines } from '../facts.ts';
import { type Citation, defineRule, type Finding, type Verdict, verdictAt } from '../rule.ts';

/** Lines that say that containerd knows of the exit: then it was not lost. */
const HANDLED: ReadonlySet<LogKind> = new Set([
  ...(['exit-received', 'exit-retried', 'exit-handling-failed', 'backoff-failed', 'backoff-enqueued'] as const),
  ...(['delete-failed', 'late-cleanup'] as const),
]);

export const exitEventLost = defineRule({
  id: 'exit-event-lost',
  title: 'The exit of a container was lost on its way to containerd',
  kind: 'stall',
  needs: ['containers', 'shims'],
  needsOneOf: ['goroutines', 'commands'],
  *judge(facts) {
    for (const container of facts.containers) {
      if (container.init !== 'gone' && container.init !== 'reused') continue;
      const lost = lossOf(container, facts);
      if (lost !== null) yield findingOf(container, lost, facts);
    }
  },
});

interface Loss {
  readonly belief: { readonly by: string; readonly cite: Citation };
  readonly verdict: Verdict;
  readonly because: readonly Citation[];
}

/** Null where something speaks against it. */
function lossOf(container: ContainerFacts, facts: Facts): Loss | null {
  const { shimAnswer } = container;
  const belief = believedRunning(container);
  const dump = facts.goroutines?.find(({ shimPid }) => shimPid === container.shimPid) ?? null;
  if (belief === null || !shimKnows(container, dump, facts) || !daemonIsWell(container, facts)) return null;
  const exit = exitOf(container, facts);
  const own = facts.logs?.events.filter(event => event.container === container.id) ?? [];
  if (own.some(({ kind, time }) => HANDLED.has(kind) && (exit === null || time === null || time >= exit.at)))
    return null;
  const logged = facts.logs?.sources.filter(({ source }) => source !== 'kubelet') ?? [];
  const covered = exit !== null && logged.some(({ from }) => from !== null && from <= exit.at);
  const whole = shimAnswer !== null && dump?.complete === true && covered;
  return {
    belief,
    // Without a log nobody can say that containerd has never heard of it.
    verdict: whole ? 'proved' : logged.length > 0 ? 'likely' : 'possible',
    because: [
      ...(shimAnswer === null ? [] : [shimAnswer.cite]),
      ...(dump?.all[0] === undefined ? [] : [dump.all[0].cite]),
    ],
  };
}

/** The shim is well, says STOPPED if it was asked, and does nothing. Else it has missed the exit itself, or it hangs. */
function shimKnows({ shimAnswer, shimPid }: ContainerFacts, dump: ShimGoroutines | null, { shims }: Facts): boolean {
  const shim = shims?.find(({ pid }) => pid === shimPid);
  if (shim === undefined || shim.alive !== true || /^[Tt]$/.test(shim.state ?? '')) return false;
  if (shimAnswer !== null && shimAnswer.status !== 'STOPPED') return false;
  return dump === null ? shimAnswer !== null : dump.idle;
}

/** A daemon that is dead, stopped or stuck cannot have lost it: it has not had it yet. Neither has one that is at work on it. */
function daemonIsWell({ docker }: ContainerFacts, { daemons, daemonGoroutines }: Facts): boolean {
  const kind = docker !== null && docker !== 'absent' ? 'dockerd' : 'containerd';
  const isStuck = ({ stat, threadsInD, ofTarget }: DaemonFacts) =>
    ofTarget === true && (/^[Tt]/.test(stat) || threadsInD > 0);
  const atWork = daemonGoroutines?.some(({ all }) => all.some(goroutine => goroutine.frames.some(isHandling))) === true;
  return !atWork && (daemons === null || (daemons.some(daemon => daemon.kind === kind) && !daemons.some(isStuck)));
}

/** cri/server/events.go */
const isHandling = ({ function: name }: { readonly function: string }) => /[.)]handleContainerExit$/.test(name);

function findingOf(container: ContainerFacts, { belief, verdict, because }: Loss, facts: Facts): Finding {
  const ended = endedFor(container, facts);
  const restart = restartBefore(container, facts);
  const drop = facts.logs?.events.find(({ kind }) => kind === 'event-evicted');
  const { containerd } = facts.capture.versions;
  return {
    verdict: verdictAt(ended?.ageMs ?? null, verdict),
    says: `The end of ${nameOf(container)} never reached ${belief.by === 'docker' ? 'dockerd' : "containerd's CRI part"}: the process is gone, the shim knows it and idles, and ${belief.by} says running for ever.`,
    because: [
      belief.cite,
      ...(container.initCite === null ? [] : [container.initCite]),
      ...because,
      ...(ended?.cites ?? []),
      ...(restart === null ? [] : [restart.cite]),
      ...(drop === undefined ? [] : [drop.cite]),
    ],
    next: [
      restart === null
        ? 'Look for a restart of containerd, or `evicting … from queue`, before the exit.'
        : 'The event came while containerd was starting and before it had the container in its cache; it is not sent again.',
      `Upgrade containerd: 1.7.34 and later do not lose it (${containerd === null ? 'the version here is not known' : `here ${containerd}`}); roll node pools, and check with short-lived pods.`,
      'To free this pod now: restart containerd, which looks at every task anew, after the warning of this report about shims that do not answer.',
    ],
    ageMs: ended?.ageMs ?? null,
    ageFrom: ended?.ageFrom ?? null,
    links: [
      {
        says: `the exit event was lost on its way to ${belief.by}, and will not come again`,
        about: [`belief:${container.id}`, `task:${container.id}`],
        waitsFor: [],
      },
    ],
  };
}

/** The start of the daemon that came last before, or around, the exit. */
function restartBefore(container: ContainerFacts, facts: Facts): LogEvent | DaemonFacts | null {
  const { criStatus } = container;
  const exit = exitOf(container, facts);
  const startedAt = criStatus !== null && criStatus !== 'absent' ? criStatus.startedAt : null;
  const isBetween = (at: number | null) =>
    at !== null && startedAt !== null && at > startedAt && (exit === null || at <= exit.at + AROUND_MS);
  return (
    facts.logs?.events.findLast(({ kind, time }) => kind === 'daemon-started' && isBetween(time)) ??
    facts.daemons?.find(
      ({ kind, startedAt: at, ofTarget }) => kind === 'containerd' && ofTarget === true && isBetween(at),
    ) ??
    null
  );
}

/** How long a containerd may take from its start until it listens for exits. */
const AROUND_MS = 30_000;
