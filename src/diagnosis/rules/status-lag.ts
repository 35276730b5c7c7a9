import { formatDuration } from '../../formats/duration.ts';
import { withoutStep } from '../clock-step.ts';
import { endedFor, hasEnded, nameOf } from '../exits.ts';
import type { ContainerFacts, CriStatusFact, Facts } from '../facts.ts';
import { defineRule, type Finding, MIN_STALL_MS, verdictAt } from '../rule.ts';

export const statusLag = defineRule({
  id: 'status-lag',
  title: "CRI's status file is behind the container",
  kind: 'stall',
  needs: ['containers'],
  *judge(facts) {
    for (const container of facts.containers) {
      const { criStatus } = container;
      if (criStatus === null || criStatus === 'absent') continue;
      if (criStatus.state === 'RUNNING' && hasEnded(container) && !endedMeanwhile(container))
        yield stillRunning(container, criStatus, facts);
      else if (criStatus.state === 'EXITED') yield* writtenLate(container, criStatus, facts);
    }
  },
});

/** It ran when the status was read, or a moment before: a container that was stopped during the capture. */
function endedMeanwhile({ seenBeforeStatusMs }: ContainerFacts): boolean {
  return seenBeforeStatusMs !== null && seenBeforeStatusMs < MIN_STALL_MS;
}

/** The gap is still open. */
function stillRunning(container: ContainerFacts, status: CriStatusFact, facts: Facts): Finding {
  const ended = endedFor(container, facts);
  const ageMs = ended?.ageMs ?? null;
  const pending =
    status.temporary.length === 0
      ? ''
      : ` A new status (${status.temporary[0]}) is being written and waits for the disk.`;
  const lag = ended?.words ?? 'an unknown time';
  return {
    verdict: verdictAt(ageMs, 'proved'),
    says: `The process of ${nameOf(container)} has ended, and CRI still says running: the gap is ${lag} so far.${pending}`,
    because: [status.cite, ...(container.initCite === null ? [] : [container.initCite]), ...(ended?.cites ?? [])],
    next: [
      'Look for why the exit is not handled: the findings about Delete, the shim and containerd of this report.',
      'Alert on it: `stallcap list --check` compares every status file of the node with /proc.',
    ],
    ageMs,
    ageFrom: ended?.ageFrom ?? null,
    links: [
      {
        says: `CRI still says ${container.name ?? container.id.slice(0, 12)} is running, ${lag} after its process ended`,
        about: [`belief:${container.id}`],
        waitsFor: [`task:${container.id}`],
      },
    ],
  };
}

/** The gap was closed: what is written is when the process ended and, as the file's mtime, when containerd got to say so. */
function* writtenLate(
  container: ContainerFacts,
  { finishedAt, file, cite }: CriStatusFact,
  facts: Facts,
): Iterable<Finding> {
  if (finishedAt === null || file === null) return;
  const gapMs = Math.round(withoutStep(file.mtime - finishedAt, facts));
  if (gapMs < MIN_STALL_MS || wroteAgain(finishedAt, file.mtime, facts)) return;
  const told = facts.logs?.events.find(
    ({ container: of, kind, time }) =>
      of === container.id && TROUBLE.test(kind) && time !== null && time >= finishedAt && time <= file.mtime + 1000,
  );
  const overMs = Math.max(0, facts.capture.startedAt - file.mtime);
  yield {
    verdict: verdictAt(gapMs, told === undefined ? 'likely' : 'proved'),
    says: `CRI learned of the end of ${nameOf(container)} ${formatDuration(gapMs)} late; that is over since ${formatDuration(overMs)}.`,
    because: [cite, file.cite, ...(told === undefined ? [] : [told.cite])],
    next: [
      'Look into the logs between FinishedAt and the time of the file: what hung then is gone, and only they tell.',
    ],
    ageMs: gapMs,
    ageFrom: 'from FinishedAt to the mtime of the status file',
    links: [
      {
        says: `CRI was told of the end ${formatDuration(gapMs)} late`,
        about: [`belief:${container.id}`],
        waitsFor: [`task:${container.id}`],
      },
    ],
  };
}

const TROUBLE = /^(?:delete-failed|exit-handling-failed|backoff-failed|exit-retried|state-timeout|late-cleanup)$/;

/** A containerd that starts writes every status again (cri/server/restart.go): the mtime is its own then. */
function wroteAgain(finishedAt: number, mtime: number, { daemons, logs }: Facts): boolean {
  const starts = [
    ...(daemons?.flatMap(({ kind, startedAt }) => (kind === 'containerd' && startedAt !== null ? [startedAt] : [])) ??
      []),
    ...(logs?.events.flatMap(({ kind, time }) => (kind === 'daemon-started' && time !== null ? [time] : [])) ?? []),
  ];
  // Without a process table nobody knows when it started.
  return daemons === null || starts.some(at => at >= finishedAt - 2000 && at <= mtime + 2000);
}
