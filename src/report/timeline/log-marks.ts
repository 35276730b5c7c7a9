import type { Facts, KernelEvent, LogEvent, LogSource } from '../../diagnosis/facts.ts';
import { nearestIsoTime } from '../../formats/iso-time.ts';
import type { Layer, TimelineEvent } from './event.ts';

const LAYER: Readonly<Record<LogSource, Layer>> = {
  containerd: 'containerd',
  kubelet: 'kubelet',
  docker: 'docker',
  kernel: 'kernel',
};

/** More says nothing more to a reader: what is repeated is counted. */
const MAX_MARKS = 400;

/**
 * Lines of the logs about the target, and of the kernel about its tasks or the disk. The same kind of line about the same
 * container is one mark with a count, as long as nothing else of its source stands between.
 */
export function logMarks(facts: Facts): readonly TimelineEvent[] {
  const { logs, containers } = facts;
  const names = new Map((containers ?? []).map(({ id, name, kind }) => [id, name ?? kind]));
  const told = (logs?.events ?? []).filter(
    ({ kind, level, time }) => time !== null && (kind !== 'other' || isBad(level)),
  );
  const marks: TimelineEvent[] = [];
  for (const line of told) {
    const of = line.container === null ? null : (names.get(line.container) ?? line.container.slice(0, 12));
    append(marks, markOf(line, of));
  }
  marks.push(...kernelMarks(facts));
  return marks.slice(-MAX_MARKS);
}

/** Faults of a disk come by the hundred, of two kinds in turn: what is closer than this to the last of its kind is one. */
const ONE_FAULT_MS = 60_000;
/** What the kernel said long before the pod was there, and not about it, is another story. */
const BEFORE_POD_MS = 5 * 60_000;

function kernelMarks(facts: Facts): readonly TimelineEvent[] {
  const since = podSince(facts) - BEFORE_POD_MS;
  const marks: TimelineEvent[] = [];
  for (const event of facts.kernel?.events ?? []) {
    if (event.time === null || (event.kind === 'other' && !event.ofPod)) continue;
    if (!event.ofPod && event.time < since) continue;
    const mark = kernelMark(event, event.time);
    const index = marks.findLastIndex(({ what }) => what.startsWith(`${event.kind}:`));
    const last = marks[index];
    if (last !== undefined && event.time - Date.parse(last.until ?? last.at) < ONE_FAULT_MS) {
      marks[index] = { ...last, count: last.count + 1, until: mark.at };
    } else marks.push(mark);
  }
  return marks;
}

function kernelMark({ kind, text, comm, cite }: KernelEvent, time: number): TimelineEvent {
  return {
    ...{ at: nearestIsoTime(time), layer: 'kernel', of: comm, what: `${kind}: ${short(text)}` },
    ...{ count: 1, until: null, severity: 'bad', cite },
  };
}

/** The first thing on record about the pod; the beginning of time where there is none. */
function podSince({ containers, logs }: Facts): number {
  const created = (containers ?? []).flatMap(({ criStatus }) =>
    criStatus === null || criStatus === 'absent' ? [] : [Number(criStatus.createdAtNs) / 1e6],
  );
  const told = logs?.events.find(({ container, time }) => container !== null && time !== null)?.time;
  const first = Math.min(...created.filter(ms => ms > 0), told ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(first) ? first : 0;
}

function markOf({ source, kind, time, level, message, error, cite }: LogEvent, of: string | null): TimelineEvent {
  const words = error === null ? message : `${message} (${error})`;
  return {
    ...{
      at: nearestIsoTime(time ?? 0),
      layer: LAYER[source],
      of,
      what: kind === 'other' ? short(words) : `${kind}: ${short(words)}`,
    },
    ...{ count: 1, until: null, severity: isBad(level) || kind.endsWith('-failed') ? 'bad' : 'plain', cite },
  };
}

function append(marks: TimelineEvent[], mark: TimelineEvent): void {
  const index = marks.findLastIndex(({ layer }) => layer === mark.layer);
  const last = marks[index];
  if (last !== undefined && last.of === mark.of && kindOf(last) === kindOf(mark)) {
    marks[index] = { ...last, count: last.count + 1, until: mark.at };
  } else marks.push(mark);
}

const kindOf = ({ what }: TimelineEvent) => what.slice(0, Math.max(what.indexOf(': '), 0)) || what;

function isBad(level: LogEvent['level']): boolean {
  return level === 'error' || level === 'warning' || level === 'fatal';
}

const MAX_WORDS = 160;
function short(text: string): string {
  return text.length <= MAX_WORDS ? text : `${text.slice(0, MAX_WORDS - 1)}…`;
}
