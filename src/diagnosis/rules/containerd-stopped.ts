import { formatDuration } from '../../formats/duration.ts';
import { type Citation, cite } from '../citation.ts';
import { believedRunning, hasEnded } from '../exits.ts';
import { namesTarget } from '../facts/processes.ts';
import type { CommandFact, DaemonFacts, Facts } from '../facts.ts';
import { defineRule, type Finding, type Part, verdictAt } from '../rule.ts';

export const containerdStopped = defineRule({
  id: 'containerd-stopped',
  title: 'containerd, or dockerd, is stopped or dead',
  kind: 'stall',
  needs: ['daemons'],
  *judge(facts) {
    const wanted = facts.target.runtime === 'docker' ? (['dockerd', 'containerd'] as const) : (['containerd'] as const);
    for (const kind of wanted) {
      const all = facts.daemons.filter(daemon => daemon.kind === kind);
      const known = all.filter(({ ofTarget }) => ofTarget === true);
      // The only one of a node may be somebody else's, or only just begin: who says that it is this pod's counts.
      const own =
        kind === 'containerd' && isRefusedByAll(facts)
          ? known.filter(({ args }) => namesTarget(args, facts.target.target))
          : known;
      for (const daemon of own) if (/^[Tt]/.test(daemon.stat) && !answered(kind, facts)) yield stopped(daemon, facts);
      if (own.length === 0) yield* dead(kind, all, facts);
    }
  },
});

/** The search by the shim's own address has found no containerd there, and whoever asked at it was refused. */
function isRefusedByAll(facts: Facts): boolean {
  const nobody = facts.signals?.some(({ steps }) => steps.some(({ result }) => NOBODY.test(result))) === true;
  return (
    nobody && questionsTo('containerd', facts).some(({ stderr, exitCode }) => exitCode !== 0 && REFUSED.test(stderr))
  );
}

/** It may have been let go on since the sweep. */
function answered(kind: DaemonFacts['kind'], facts: Facts): boolean {
  return questionsTo(kind, facts).some(({ outcome, exitCode }) => outcome === 'ok' && exitCode === 0);
}

function questionsTo(kind: DaemonFacts['kind'], { commands }: Facts): readonly CommandFact[] {
  const tools = kind === 'dockerd' ? ['docker'] : ['ctr', 'crictl'];
  return (commands ?? []).filter(({ tool, outcome }) => tools.includes(tool) && outcome !== 'absent');
}

function stopped(daemon: DaemonFacts, facts: Facts): Finding {
  const { kind, pid, stat } = daemon;
  const silent = questionsTo(kind, facts);
  const since = sweptAt(daemon);
  const last = silent.findLast(({ at }) => at !== null);
  const until = last?.at == null ? null : last.at + last.durationMs;
  const ageMs = since === null || until === null ? null : Math.round(Math.max(0, until - since));
  const how = stat.startsWith('t') ? 'held by a debugger' : 'stopped (SIGSTOP)';
  const unanswered =
    silent.length === 0
      ? ''
      : `, and ${silent.length === 1 ? 'a question' : `${silent.length} questions`} to it went unanswered`;
  return {
    ...effect(kind, pid, facts),
    verdict: verdictAt(ageMs, last === undefined ? 'likely' : 'proved'),
    says: `${kind} ${pid} is ${how}${ageMs === null ? '' : `, for ${formatDuration(ageMs)} at least`}${unanswered}: no pod of it can be started, stopped or asked about, and ends of containers are not taken.`,
    because: [daemon.cite, ...(last === undefined ? [] : [last.cite])],
    next: [
      `Let it go on with \`kill -CONT ${pid}\` once it is known who stopped it; nothing is lost, the shims have kept everything.`,
      'Do not restart it instead: a shim that does not answer the new one in 5 s loses its bundle.',
    ],
    ageMs,
    ageFrom:
      ageMs === null
        ? null
        : `the time from the sweep over all processes to the last unanswered question (${last?.tool} ${last?.what})`,
  };
}

/** The start and the age of a process are of the same moment. */
const sweptAt = ({ startedAt, ageMs }: DaemonFacts) =>
  startedAt === null || ageMs === null ? null : startedAt + ageMs;

/**
 * No process of the name serves this pod. Where others run on the node, the search for the shim's own containerd says so: it goes
 * by the shim's address (collectors/signal).
 */
function* dead(kind: DaemonFacts['kind'], others: readonly DaemonFacts[], facts: Facts): Iterable<Finding> {
  const { signals, target, commands, capture, processes } = facts;
  if (target.target.kind !== 'sandbox' || target.target.sandbox.shims.length === 0) return;
  const searched = signals?.find(({ steps }) => steps.some(({ result }) => NOBODY.test(result)));
  const nobody = searched?.steps.find(({ result }) => NOBODY.test(result));
  const refused = questionsTo(kind, facts).filter(({ stderr, exitCode }) => exitCode !== 0 && REFUSED.test(stderr));
  if (others.length > 0 && (kind === 'dockerd' || nobody === undefined)) return;
  if (processes === null || answered(kind, facts)) return;
  if (kind === 'dockerd' && commands?.some(({ tool }) => tool === 'docker') !== true) return;
  const seen: Citation[] = [
    searched === undefined || nobody === undefined
      ? cite('node/processes.txt', null, `no ${kind}`)
      : { ...searched.cite, text: nobody.result },
  ];
  const last = refused.findLast(({ at }) => at !== null);
  const stopping = facts.logs?.events.findLast(({ kind: of }) => of === 'daemon-stopping' || of === 'daemon-started');
  const stoppedAt = stopping?.kind === 'daemon-stopping' ? stopping.time : null;
  const since = stoppedAt ?? (nobody === undefined ? null : capture.startedAt + nobody.offsetMs);
  const until = last?.at == null ? null : last.at + last.durationMs;
  const ageMs = since === null || until === null ? null : Math.round(Math.max(0, until - since));
  yield {
    ...effect(kind, null, facts),
    verdict: verdictAt(ageMs, last === undefined ? 'likely' : 'proved'),
    says: `${others.length === 0 ? `${kind} is not running` : `No ${kind} serves this pod`}${ageMs === null ? '' : ` for ${formatDuration(ageMs)} at least`}: the shim and its containers live on, and nobody takes their exits or answers the kubelet.`,
    because: [
      ...seen,
      ...(last === undefined ? [] : [last.cite]),
      ...(stoppedAt === null || stopping === undefined ? [] : [stopping.cite]),
    ],
    next: [
      `Start it again, after the warning of this report about shims that do not answer, and read in its log (\`journalctl -u ${kind === 'dockerd' ? 'docker' : 'containerd'}\`) why it ended.`,
      'A containerd up to 1.7.33 that starts while containers end may lose their exits: compare `stallcap list --check` afterwards.',
    ],
    ageMs,
    ageFrom:
      ageMs === null
        ? null
        : stoppedAt === null
          ? 'the time from the search for the daemon to the last refused question'
          : `the time from its end in ${stopping?.cite.entry} to the last refused question`,
  };
}

const NOBODY = /^no containerd serves /;
const REFUSED = /connection refused|no such file or directory|error while dialing|Cannot connect to the Docker daemon/i;

/** What the user sees of it: containers that have ended, and are said to run. */
function effect(kind: DaemonFacts['kind'], pid: number | null, { containers }: Facts): Pick<Finding, 'links'> {
  const behind = (containers ?? []).filter(container => hasEnded(container) && believedRunning(container) !== null);
  const tasks = behind.map(({ id }): Part => `task:${id}`);
  const daemon: Part[] = pid === null ? [] : [`daemon:${pid}`];
  return {
    links: [
      {
        says: `${kind}${pid === null ? ' is not running' : ` ${pid} is stopped`}`,
        about: [...daemon, ...tasks],
        waitsFor: [],
      },
    ],
  };
}
