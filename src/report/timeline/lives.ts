import type { ContainerFacts, Facts } from '../../diagnosis/facts.ts';
import { nearestIsoTime } from '../../formats/iso-time.ts';
import { containerLabel } from '../views.ts';
import type { TimelineEvent, TimelineSpan } from './event.ts';

/** When a container was created, started and ended, by its own records, and when those were written. */
export function lifeEvents({ containers, logs, capture }: Facts): readonly TimelineEvent[] {
  return (containers ?? []).flatMap(container => {
    const of = containerLabel(container);
    const { created, started, ended } = lifeOf(container, logs, capture.startedAt);
    const moments: (TimelineEvent | null)[] = [
      event(created, { layer: 'container', of, what: 'created' }, container),
      event(started, { layer: 'container', of, what: 'started' }, container),
      event(ended, { layer: 'container', of, what: 'exited' }, container),
      ...written(container, of),
    ];
    return moments.filter(moment => moment !== null);
  });
}

/** Created and not started, running, ended: up to the capture. */
export function lifeSpans({ containers, logs, capture }: Facts): readonly TimelineSpan[] {
  const now = capture.startedAt;
  return (containers ?? []).flatMap(container => {
    const of = containerLabel(container);
    const { created, started, ended } = lifeOf(container, logs, now);
    const span = (kind: TimelineSpan['kind'], what: string, from: number | null, to: number | null) =>
      from === null || (to ?? now) <= from
        ? []
        : [
            {
              from: nearestIsoTime(from),
              to: nearestIsoTime(to ?? now),
              layer: 'container' as const,
              of,
              what,
              kind,
              cite: citeOf(container),
            },
          ];
    return [
      ...span('waiting', 'created, not started', created, started ?? ended),
      ...span('running', 'running', started, ended),
      ...(isRunningByRecord(container)
        ? span('waiting', 'exited, CRI still says running', ended, null)
        : span('ended', 'exited', ended, null)),
    ];
  });
}

/** It has ended, and its status file does not know. */
function isRunningByRecord({ criStatus }: ContainerFacts): boolean {
  return criStatus !== null && criStatus !== 'absent' && criStatus.state === 'RUNNING';
}

interface Life {
  readonly created: number | null;
  readonly started: number | null;
  readonly ended: number | null;
}

/** Its status file may still say that it runs; then the exit event in the log has the time. */
function lifeOf(container: ContainerFacts, logs: Facts['logs'], now: number): Life {
  const { criStatus, docker, shimAnswer, id } = container;
  const record = criStatus === 'absent' ? null : criStatus;
  const dockers = docker === 'absent' ? null : docker;
  const logged =
    logs?.events.findLast(({ container: of, exitedAt }) => of === id && exitedAt !== null)?.exitedAt ?? null;
  const ended = record?.finishedAt ?? shimAnswer?.exitedAt ?? logged ?? timeOf(dockers?.finishedAt);
  const started = record?.startedAt ?? timeOf(dockers?.startedAt);
  const created = record === null ? null : nsToMs(record.createdAtNs);
  const past = (at: number | null) => (at !== null && at <= now ? at : null);
  // A container of docker that was started again has an end before its start.
  const valid = ended !== null && started !== null && ended < started ? null : ended;
  return { created: past(created), started: past(started), ended: past(valid) };
}

function written({ criStatus, docker }: ContainerFacts, of: string): readonly (TimelineEvent | null)[] {
  const cri = criStatus === 'absent' ? null : (criStatus?.file ?? null);
  const config = docker === 'absent' ? null : (docker?.file ?? null);
  return [
    { file: cri, what: 'CRI status file written' },
    { file: config, what: 'config.v2.json written' },
  ].map(({ file, what }) => {
    if (file === null) return null;
    return { ...base(file.mtime, 'status file', of, what), cite: file.cite };
  });
}

function event(
  at: number | null,
  { layer, of, what }: Pick<TimelineEvent, 'layer' | 'of' | 'what'>,
  container: ContainerFacts,
): TimelineEvent | null {
  return at === null ? null : { ...base(at, layer, of, what), cite: citeOf(container) };
}

function base(at: number, layer: TimelineEvent['layer'], of: string | null, what: string): Omit<TimelineEvent, 'cite'> {
  return { at: nearestIsoTime(at), layer, of, what, count: 1, until: null, severity: 'plain' };
}

function citeOf({ criStatus, docker }: ContainerFacts) {
  if (criStatus !== null && criStatus !== 'absent') return criStatus.cite;
  return docker !== null && docker !== 'absent' ? docker.cite : null;
}

function nsToMs(ns: string): number | null {
  const ms = Number(ns) / 1e6;
  return ms > 0 ? ms : null;
}

/** docker writes the year 1 for what has not happened. */
function timeOf(text: string | null | undefined): number | null {
  const ms = Date.parse(text ?? '');
  return ms > 0 ? ms : null;
}
