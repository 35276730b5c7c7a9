/** Tables and states for people: `kubectl describe pod`, `kubectl get events`, also one after the other in one file. */
import type { KubernetesEvent } from './event.ts';

/** Of a table: where it has what. Columns are apart by two blanks at least; the message is what is left. */
type Columns = readonly string[];

const EVENT_HEADER =
  /^\s*(?:Type\s+Reason\s+Age\s+From\s+Message|(?:NAMESPACE\s+)?LAST SEEN\s.{0,300}\bTYPE\s{1,100}REASON\s.{0,300}\bMESSAGE)/;
const STATE_TIME = /^\s+(Started|Finished):\s+(\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4})\s*$/;
const START_TIME = /^Start Time:\s+(\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4})\s*$/;
const TERMINATING = /^Status:\s+Terminating \(lasts ([^)]+)\)/;
const STATE = /^\s+(State|Last State):\s+(\w+)/;
const REASON = /^\s+Reason:\s+(\S+)/;
const CONTAINER = /^ {2}([a-z0-9][a-z0-9.-]{0,62}):\s*$/;

export function eventsOfText(text: string, writtenAt: number | null): readonly KubernetesEvent[] {
  const events: KubernetesEvent[] = [];
  let columns: Columns | null = null;
  let container: string | null = null;
  let state = '';
  let reason = '';
  for (const [index, line] of text.split('\n').entries()) {
    const add = (event: Partial<KubernetesEvent> & Pick<KubernetesEvent, 'reason' | 'at'>) =>
      events.push({ ...NOTHING, container, ...event, line: index + 1, text: line });
    if (EVENT_HEADER.test(line)) {
      columns = columnsIn(line);
      continue;
    }
    if (columns !== null) {
      if (/^\s*-{2,}/.test(line)) continue;
      const row = rowOf(line, columns, writtenAt);
      if (row !== null) {
        events.push({ ...row, line: index + 1, text: line });
        continue;
      }
      columns = null;
    }
    container = CONTAINER.exec(line)?.[1] ?? (/^\S/.test(line) ? null : container);
    const began = STATE.exec(line);
    if (began !== null) [state, reason] = [`${began[1]}: ${began[2]}`, ''];
    reason = REASON.exec(line)?.[1] ?? reason;
    const [, moment, time = ''] = STATE_TIME.exec(line) ?? [];
    if (moment !== undefined) {
      add({ reason: moment, at: timeIn(time), message: `${state}${reason === '' ? '' : ` (${reason})`}` });
    }
    const started = START_TIME.exec(line)?.[1];
    if (started !== undefined) add({ reason: 'StartTime', at: timeIn(started), message: 'the kubelet took the pod' });
    const lasts = TERMINATING.exec(line)?.[1];
    if (lasts !== undefined) {
      const ms = ageIn(lasts);
      const at = ms === null || writtenAt === null ? null : writtenAt - ms;
      add({
        reason: 'Terminating',
        at,
        age: lasts,
        isWarning: true,
        message: `its time to end was over ${lasts} before`,
      });
    }
  }
  return events;
}

const NOTHING = {
  ...{ firstAt: null, age: null, count: 1, isWarning: false, message: '', object: null, container: null, from: null },
} as const;

function columnsIn(header: string): Columns {
  return header
    .trim()
    .split(/\s{2,}/)
    .map(title => title.toLowerCase());
}

/** Null for a line that is no row of the table: its end. */
function rowOf(
  line: string,
  columns: Columns,
  writtenAt: number | null,
): Omit<KubernetesEvent, 'line' | 'text'> | null {
  const last = columns.indexOf('message');
  const cells = line.trim().split(/\s{2,}/);
  const wide = columns.length - last - 1;
  if (line.trim() === '' || cells.length < columns.length - wide) return null;
  // In front of the message as many cells as titles; what is behind it (`-o wide`) is of no interest.
  const message = cells
    .slice(last, wide > 0 && cells.length - wide > last ? cells.length - wide : undefined)
    .join('  ');
  const cell = (title: string) => {
    const at = columns.indexOf(title);
    return at < 0 || at > last ? null : (cells[at] ?? null);
  };
  const seen = /^(\S+)(?:\s+\(x(\d+)(?: over (\S+))?\))?$/.exec(cell('age') ?? cell('last seen') ?? '');
  const type = cell('type');
  if (seen === null || !/^(?:Normal|Warning)$/.test(type ?? '')) return null;
  const [, age = '', count = '1', over] = seen;
  const before = (text: string | undefined) => {
    const ms = ageIn(text ?? '');
    return ms === null || writtenAt === null ? null : writtenAt - ms;
  };
  const subobject = cell('subobject') ?? '';
  return {
    ...{ at: before(age), firstAt: over === undefined ? null : before(over), age, count: Number(count) },
    ...{ isWarning: type === 'Warning', reason: cell('reason') ?? '', message, object: cell('object') },
    ...{ container: /\{([^{}]{1,253})\}/.exec(subobject)?.[1] ?? null, from: cell('from') ?? cell('source') },
  };
}

const UNIT_MS: Readonly<Record<string, number>> = {
  y: 365 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
};

/** `14m`, `2m3s`, `5d2h` (apimachinery, duration.HumanDuration), ms; null for `<unknown>`. */
function ageIn(text: string): number | null {
  if (!/^(?:\d{1,9}[ydhms]){1,6}$/.test(text)) return null;
  return [...text.matchAll(/(\d{1,9})([ydhms])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
    0,
  );
}

function timeIn(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
