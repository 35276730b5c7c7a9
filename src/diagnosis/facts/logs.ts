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
const MAX_EXAMPLES = 5;
/** Of the target: a container that is retried for hours writes some thousand lines, of which the first and the newest matter. */
const KEEP_FIRST = 1500;
const KEEP_LAST = 1500;
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
  first: number | null;
  last: number | null;
  readonly examples: LogEvent[];
}

/** Reduces logs while they pass by: what is about the target, and known kinds of the rest counted. Nothing else is kept. */
export function logReader(target: TargetFacts, context: LogContext) {
  const sources: SourceState[] = [];
  const kept = keeper();
  const counts = new Map<LogKind, CountState>();
  const timeouts = new Map<string, number[]>();
  const names = { byUid: new Map<string, string>(), byId: new Map<string, string>() };
  const versions = new Map<LogSource, string>();
  const marks = [...target.ids, ...(target.podUid === null ? [] : [target.podUid]), ...podMark(target)];

  const take = (line: string, number: number, state: SourceState) => {
    const mine = marks.some(mark => line.includes(mark));
    learnNames(line, names);
    const version = VERSION.exec(line)?.[1];
    if (version !== undefined) versions.set(state.source, copy(version));
    if (!mine && !MAY_BE_KNOWN.test(line)) return;
    if (line.includes('=== BEGIN goroutine stack dump ===')) return;
    const event = eventOf(parseLogLine(line, context), { number, mine, state, target });
    if (event === null) return;
    if (event.kind === 'state-timeout') count(timeouts, event);
    if (event.kind !== 'other') tally(counts, event);
    if (mine || (OF_THE_NODE.has(event.kind) && event.ids.length === 0)) kept.add(event);
  };

  return {
    reader(entry: string, source: LogSource): LineReader {
      const state: SourceState = { source, entry, lines: 0, first: null, last: null };
      sources.push(state);
      return (line, number) => {
        if (line === '') return;
        state.lines += 1;
        state.first ??= line.slice(0, 4000);
        state.last = line.length > 4000 ? line.slice(0, 4000) : line;
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
        events: kept.all().toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0)),
        counts: new Map([...counts].map(([kind, state]) => [kind, countOf(state)])),
        stateTimeouts: timeoutsOf(timeouts),
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
function keeper() {
  const first: LogEvent[] = [];
  const last: LogEvent[] = [];
  return {
    add(event: LogEvent) {
      if (first.length < KEEP_FIRST) first.push(event);
      else last.push(event);
      if (last.length > 2 * KEEP_LAST) last.splice(0, last.length - KEEP_LAST);
    },
    all: () => [...first, ...last.slice(-KEEP_LAST)],
  };
}

interface Where {
  readonly number: number;
  readonly mine: boolean;
  readonly state: SourceState;
  readonly target: TargetFacts;
}

function eventOf(line: LogLine, { number, mine, state, target }: Where): LogEvent | null {
  const { message, level, fields, time, raw } = line;
  const error = fields.get('error') ?? fields.get('err') ?? null;
  const kind = kindOf(message, error);
  if (kind === 'other' && (!mine || level === 'debug' || level === 'trace')) return null;
  const ids = idsIn(raw);
  return {
    ...{ source: state.source, kind, time, level, ids },
    container: containerIn(ids, target),
    message: short(message),
    error: error === null ? null : short(error),
    exitedAt: exitedAtIn(raw),
    cite: cite(state.entry, number, raw.length > 2000 ? raw.slice(0, 2000) : raw),
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
  // Copied, so that a kept id does not keep the chunk it was cut from.
  return [...new Set(raw.match(/\b[0-9a-f]{64}\b/g) ?? [])].map(id => Buffer.from(id, 'latin1').toString('latin1'));
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

function count(timeouts: Map<string, number[]>, { message, time }: LogEvent): void {
  const id = /^get state for (\S+)/.exec(message)?.[1] ?? '';
  const [seen = 0, first = time ?? 0, last = time ?? 0] = timeouts.get(id) ?? [];
  timeouts.set(Buffer.from(id, 'latin1').toString('latin1'), [
    seen + 1,
    Math.min(first, time ?? first),
    Math.max(last, time ?? last),
  ]);
}

function timeoutsOf(timeouts: ReadonlyMap<string, readonly number[]>): LogFacts['stateTimeouts'] {
  const rows = [...timeouts];
  const total = rows.reduce((sum, [, [seen = 0]]) => sum + seen, 0);
  const first = Math.min(...rows.map(([, [, at = 0]]) => at));
  const last = Math.max(...rows.map(([, [, , at = 0]]) => at));
  const minutes = (last - first) / 60_000;
  const perMinute = total < 2 || !Number.isFinite(minutes) || minutes <= 0 ? null : total / minutes;
  return { total, byContainer: new Map(rows.map(([id, [seen = 0]]) => [id, seen])), perMinute };
}

function tally(counts: Map<LogKind, CountState>, event: LogEvent): void {
  const { kind, time, ids } = event;
  const state = counts.get(kind) ?? { count: 0, containers: new Set<string>(), first: null, last: null, examples: [] };
  counts.set(kind, state);
  state.count += 1;
  for (const id of ids) if (state.containers.size < MAX_NAMES) state.containers.add(id);
  if (time !== null) {
    state.first = Math.min(state.first ?? time, time);
    state.last = Math.max(state.last ?? time, time);
  }
  if (state.examples.length < MAX_EXAMPLES) state.examples.push(event);
}

function countOf({ count: total, containers, first, last, examples }: CountState): LogCount {
  return { count: total, containers: containers.size, first, last, examples };
}

/** `msg="starting containerd" revision=… version=1.6.20`, `"Kubelet version" kubeletVersion="v1.28.3"`, in JSON with colons. */
const VERSION = /(?:starting containerd.*version"?[=:]"?|[kK]ubeletVersion"?[=:]"?v?)([\w.+~-]+)/;

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
