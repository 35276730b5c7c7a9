import { closingQuote } from '../../formats/go-quote.ts';
import { parseLogLine } from '../../formats/logs/parse-log-line.ts';
import type { LogContext } from '../../formats/logs/timestamp.ts';
import type { LogFacts, LogKind, LogSource, TargetFacts } from '../facts.ts';
import type { LineReader } from './lines.ts';
import { type CountState, countOf, MAX_IDS, tally, timeoutsOf } from './log-counts.ts';
import { copy, eventOf, ID, type LogEntry, type RawEvent, rawOf } from './log-event.ts';
import { kindOf, MAY_BE_KNOWN, OF_THE_NODE } from './log-kinds.ts';
import { learnNames, learnVersion, type PodNames } from './log-names.ts';
import type { ManifestRecord } from './manifest-record.ts';

const LOG = /^logs\/(containerd|kubelet|docker)(?:-\d+)?\.log$/;

/** Null for an entry that is none of these logs. */
export function sourceOfLog(path: string): LogSource | null {
  return (LOG.exec(path)?.[1] as LogSource | undefined) ?? null;
}

/** Of the target: a container that is retried for hours writes some thousand lines, of which the first and the newest matter. */
const KEEP_FIRST = 1500;
const KEEP_LAST = 1500;
/** About nobody: the daemon's own starts, full disks. */
const KEEP_OF_NODE = 200;

/** A log that passes by. */
interface PassingLog extends LogEntry {
  lines: number;
  first: string | null;
  last: string | null;
}

/** Reduces logs while they pass by: what is about the target, and known kinds of the rest counted. Nothing else is kept. */
export function logReader(target: TargetFacts, context: LogContext) {
  const sources: PassingLog[] = [];
  const own = keeper(KEEP_FIRST, KEEP_LAST);
  const ofNode = keeper(KEEP_OF_NODE, KEEP_OF_NODE);
  const counts = new Map<LogKind, CountState>();
  const timeouts = new Map<string, number>();
  const names: PodNames = { byUid: new Map(), byId: new Map() };
  const versions = new Map<LogSource, string>();
  const marks = [...target.ids, ...(target.podUid === null ? [] : [target.podUid]), ...podMark(target)];

  const take = (line: string, number: number, log: LogEntry) => {
    const mine = marks.some(mark => line.includes(mark));
    learnNames(line, names);
    learnVersion(line, log.source, versions);
    if (!mine && !MAY_BE_KNOWN.test(line)) return;
    if (line.includes('=== BEGIN goroutine stack dump ===')) return;
    const kind = roughKindOf(line);
    if (kind === 'state-timeout') {
      const id = /get state for ([\w.-]{1,128})/.exec(line)?.[1] ?? '';
      if (timeouts.size < MAX_IDS || timeouts.has(id)) timeouts.set(copy(id), (timeouts.get(id) ?? 0) + 1);
    }
    if (kind !== 'other') tally(counts, kind, line, { number, kind, log });
    if (mine) {
      if (kind !== 'other' || !IS_DEBUG.test(line)) own.add(rawOf(line, { number, kind, log }));
    } else if (OF_THE_NODE.has(kind) && !ID.test(line)) ofNode.add(rawOf(line, { number, kind, log }));
  };
  const parsed = (raw: RawEvent) => eventOf(parseLogLine(raw.line, context), raw, target);

  return {
    reader(entry: string, source: LogSource): LineReader {
      const state: PassingLog = { source, entry, lines: 0, first: null, last: null };
      sources.push(state);
      return (line, number) => {
        if (line === '') return;
        state.lines += 1;
        state.first ??= copy(line.slice(0, 1000));
        state.last = line;
        take(line, number, state);
      };
    },
    names,
    /** What containerd and kubelet said of themselves when they started; the last start counts. */
    versions: versions as ReadonlyMap<LogSource, string>,
    facts(manifest: ManifestRecord | null): LogFacts | null {
      if (sources.length === 0) return null;
      const timeOf = (line: string | null) => (line === null ? null : parseLogLine(line, context).time);
      return {
        sources: sources.map(({ source, entry, lines, first, last }) => {
          const whole = manifest?.items.get(entry)?.outcome === 'ok';
          return { source, entry, lines, from: timeOf(first), to: timeOf(last), whole };
        }),
        events: [...own.all(), ...ofNode.all()].map(parsed).toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0)),
        counts: new Map([...counts].map(([kind, state]) => [kind, countOf(state, timeOf, parsed)])),
        stateTimeouts: timeoutsOf(timeouts, counts.get('state-timeout'), timeOf),
      };
    },
  };
}

/** `shop/web-0`, as kubelet writes it, and the older `web-0_shop(uid)`. */
function podMark({ target, name }: TargetFacts): readonly string[] {
  const pod = target.kind === 'sandbox' ? target.sandbox.pod : target.kind === 'remnant' ? target.remnant.pod : null;
  return pod === null ? [] : [name, `${pod.name}_${pod.namespace}(`].filter(mark => mark.length > 3);
}

/** The first ones and the newest ones. */
function keeper(firstOnes: number, newestOnes: number) {
  const first: RawEvent[] = [];
  const last: RawEvent[] = [];
  return {
    add(event: RawEvent) {
      if (first.length < firstOnes) first.push(event);
      else last.push(event);
      if (last.length > 2 * newestOnes) last.splice(0, last.length - newestOnes);
    },
    all: () => [...first, ...last.slice(-newestOnes)],
  };
}

/**
 * The kind of a line without parsing it: of a million lines about other pods no more is needed. The message is what stands in the
 * quotes behind `msg=` of logrus and `"msg":` of JSON, or behind the header of klog.
 */
function roughKindOf(line: string): LogKind {
  const at = MESSAGE.exec(line);
  if (at === null) return kindOf(line, null);
  const from = at.index + at[0].length;
  const end = at[0].endsWith('"') ? closingQuote(line, from) : -1;
  return kindOf(line.slice(from, end < 0 ? undefined : end), line);
}

const MESSAGE = /msg="|"msg":"|\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\s\]]{1,200}\] "?/;
const IS_DEBUG = /\blevel=(?:debug|trace)\b|"level":"(?:debug|trace)"/;
