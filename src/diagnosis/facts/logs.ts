import { closingQuote } from '../../formats/go-quote.ts';
import type { LogLine } from '../../formats/logs/log-line.ts';
import { parseLogLine } from '../../formats/logs/parse-log-line.ts';
import { type LogContext, parseIsoTime } from '../../formats/logs/timestamp.ts';
import { cite } from '../citation.ts';
import type { LogCount, LogEvent, LogFacts, LogKind, LogSource, TargetFacts } from '../facts.ts';
import type { LineReader } from './lines.ts';
import { kindOf, MAY_BE_KNOWN, OF_THE_NODE } from './log-kinds.ts';
import type { ManifestRecord } from './record.ts';

const LOG = /^logs\/(containerd|kubelet|docker)(?:-\d+)?\.log$/;

/** Null for an entry that is none of these logs. */
export function sourceOfLog(path: string): LogSource | null {
  return (LOG.exec(path)?.[1] as LogSource | undefined) ?? null;
}

const MAX_TEXT = 300;
const MAX_LINE = 4000;
const MAX_EXAMPLES = 5;
/** Of the target: a container that is retried for hours writes some thousand lines, of which the first and the newest matter. */
const KEEP_FIRST = 1500;
const KEEP_LAST = 1500;
/** About nobody: the daemon's own starts, full disks. */
const KEEP_OF_NODE = 200;
const MAX_NAMES = 5000;

interface SourceState {
  readonly source: LogSource;
  readonly entry: string;
  lines: number;
  first: string | null;
  last: string | null;
}

interface CountState {
  count: number;
  readonly containers: Set<string>;
  /** Lines as they stood: what a million of them say about time, the first and the last one tell. */
  readonly first: string;
  last: string;
  readonly examples: RawEvent[];
}

/** Reduces logs while they pass by: what is about the target, and known kinds of the rest counted. Nothing else is kept. */
export function logReader(target: TargetFacts, context: LogContext) {
  const sources: SourceState[] = [];
  const own = keeper(KEEP_FIRST, KEEP_LAST);
  const ofNode = keeper(KEEP_OF_NODE, KEEP_OF_NODE);
  const counts = new Map<LogKind, CountState>();
  const timeouts = new Map<string, number>();
  const names = { byUid: new Map<string, string>(), byId: new Map<string, string>() };
  const versions = new Map<LogSource, string>();
  const marks = [...target.ids, ...(target.podUid === null ? [] : [target.podUid]), ...podMark(target)];

  const take = (line: string, number: number, state: SourceState) => {
    const mine = marks.some(mark => line.includes(mark));
    learnNames(line, names);
    learnVersion(line, state.source, versions);
    if (!mine && !MAY_BE_KNOWN.test(line)) return;
    if (line.includes('=== BEGIN goroutine stack dump ===')) return;
    const kind = roughKindOf(line);
    if (kind === 'state-timeout') {
      const id = /get state for ([\w.-]{1,128})/.exec(line)?.[1] ?? '';
      if (timeouts.size < MAX_NAMES || timeouts.has(id)) timeouts.set(copy(id), (timeouts.get(id) ?? 0) + 1);
    }
    if (kind !== 'other') tally(counts, kind, line, { number, kind, state });
    if (mine) {
      if (kind !== 'other' || !IS_DEBUG.test(line)) own.add(rawOf(line, { number, kind, state }));
    } else if (OF_THE_NODE.has(kind) && !ID.test(line)) ofNode.add(rawOf(line, { number, kind, state }));
  };
  const eventOf = (raw: RawEvent) => makeEvent(parseLogLine(raw.line, context), raw, target);

  return {
    reader(entry: string, source: LogSource): LineReader {
      const state: SourceState = { source, entry, lines: 0, first: null, last: null };
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
        events: [...own.all(), ...ofNode.all()].map(eventOf).toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0)),
        counts: new Map([...counts].map(([kind, state]) => [kind, countOf(state, timeOf, eventOf)])),
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

/** A line that may be kept; it is parsed when it is. */
interface RawEvent {
  readonly line: string;
  readonly number: number;
  readonly kind: LogKind;
  readonly state: SourceState;
}

/** A copy: what is kept of a line must not keep the piece of the log that it was cut from. */
function rawOf(line: string, where: Omit<RawEvent, 'line'>): RawEvent {
  return { ...where, line: copy(line.slice(0, MAX_LINE)) };
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
const ID = /\b[0-9a-f]{64}\b/;

function makeEvent(line: LogLine, { number, kind, state }: RawEvent, target: TargetFacts): LogEvent {
  const { message, level, fields, time, raw } = line;
  const error = fields.get('error') ?? fields.get('err') ?? null;
  // Forms without quotes (logrus on a terminal) show their message only when they are parsed.
  const exact = kind === 'other' ? kindOf(message, error) : kind;
  const ids = idsIn(raw);
  return {
    ...{ source: state.source, kind: exact, time, level, ids },
    container: containerIn(ids, target),
    message: short(message),
    error: error === null ? null : short(error),
    exitedAt: exitedAtIn(raw),
    cite: cite(state.entry, number, raw),
  };
}

/** A line about a container names its sandbox too: the container is what it is about. */
function containerIn(ids: readonly string[], { ids: own, sandboxId }: TargetFacts): string | null {
  const mine = ids.filter(id => own.has(id));
  return mine.find(id => id !== sandboxId) ?? mine[0] ?? null;
}

function short(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}

function idsIn(raw: string): readonly string[] {
  return [...new Set(raw.match(/\b[0-9a-f]{64}\b/g) ?? [])];
}

/** `ExitedAt:2026-11-29 15:43:46.88 +0000 UTC` up to 1.7, `exited_at:{seconds:1732 nanos:5}` since. Null for the zero time. */
function exitedAtIn(raw: string): number | null {
  const [, seconds, nanos = '0'] = /exited_at:\s?\{\s?seconds:\s?(-?\d+)(?:\s+nanos:\s?(\d+))?/.exec(raw) ?? [];
  const ms =
    seconds !== undefined
      ? Number(seconds) * 1000 + Number(nanos) / 1e6
      : parseIsoTime(/ExitedAt:([\d-]+ [\d:.]+ [+-]\d{4} [A-Z]+)/.exec(raw)?.[1] ?? '', { year: 0, utcOffset: 0 });
  return ms === null || ms <= 0 ? null : ms;
}

function tally(counts: Map<LogKind, CountState>, kind: LogKind, line: string, where: Omit<RawEvent, 'line'>): void {
  const known = counts.get(kind);
  const text = line.slice(0, 1000);
  const state = known ?? { count: 0, containers: new Set<string>(), first: copy(text), last: text, examples: [] };
  if (known === undefined) counts.set(kind, state);
  state.count += 1;
  state.last = text;
  if (state.examples.length < MAX_EXAMPLES) state.examples.push(rawOf(line, where));
  const id = state.containers.size < MAX_NAMES ? ID.exec(line)?.[0] : undefined;
  if (id !== undefined && !state.containers.has(id)) state.containers.add(copy(id));
}

type TimeOf = (line: string | null) => number | null;

function countOf(
  { count, containers, first, last, examples }: CountState,
  timeOf: TimeOf,
  eventOf: (raw: RawEvent) => LogEvent,
): LogCount {
  const times = { first: timeOf(first), last: timeOf(last) };
  return { count, containers: containers.size, ...times, examples: examples.map(eventOf) };
}

function timeoutsOf(
  byContainer: ReadonlyMap<string, number>,
  state: CountState | undefined,
  timeOf: TimeOf,
): LogFacts['stateTimeouts'] {
  const total = state?.count ?? 0;
  const [first, last] = state === undefined ? [null, null] : [timeOf(state.first), timeOf(state.last)];
  const minutes = first === null || last === null ? 0 : (last - first) / 60_000;
  return { total, byContainer, perMinute: total < 2 || minutes <= 0 ? null : total / minutes };
}

function learnVersion(line: string, source: LogSource, versions: Map<LogSource, string>): void {
  if (!line.includes('starting containerd') && !line.includes('ubeletVersion')) return;
  const version = VERSION.exec(line)?.[1];
  if (version !== undefined) versions.set(source, copy(version));
}

/** `msg="starting containerd" revision=… version=1.6.20`, `"Kubelet version" kubeletVersion="v1.28.3"`, in JSON with colons. */
const VERSION = /(?:starting containerd.{0,300}version"?[=:]"?|[kK]ubeletVersion"?[=:]"?v?)([\w.+~-]+)/;

const SANDBOX_METADATA = /PodSandboxMetadata\{Name:([^,{}]{1,253}),Uid:([^,{}]{1,64}),Namespace:([^,{}]{1,63}),/;
const SANDBOX_RETURNS = /returns sandbox id \\?"([0-9a-f]{64})/;
const KUBELET_POD = /pods?="?\[?"?([a-z0-9.-]{1,63}\/[a-z0-9.-]{1,253})"?\]?"? podUID="?([0-9a-f-]{36})/;

/** Which pod a uid or a sandbox is: containerd's RunPodSandbox, kubelet's structured lines. */
function learnNames(line: string, names: { byUid: Map<string, string>; byId: Map<string, string> }): void {
  if (names.byUid.size >= MAX_NAMES) return;
  if (line.includes('PodSandboxMetadata{')) {
    const [, name, uid, namespace] = SANDBOX_METADATA.exec(line) ?? [];
    if (name === undefined || uid === undefined) return;
    const full = copy(`${namespace}/${name}`);
    names.byUid.set(copy(uid), full);
    const id = SANDBOX_RETURNS.exec(line)?.[1];
    if (id !== undefined) names.byId.set(copy(id), full);
  } else if (line.includes('podUID=')) {
    const [, name, uid] = KUBELET_POD.exec(line) ?? [];
    if (name !== undefined && uid !== undefined && !names.byUid.has(uid)) names.byUid.set(copy(uid), copy(name));
  }
}

function copy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
