import type { LogCount, LogEvent, LogFacts, LogKind } from '../facts.ts';
import { copy, ID, type RawEvent, rawOf } from './log-event.ts';

/** So many ids are told apart; more are counted, and no more. */
export const MAX_IDS = 5000;
const MAX_EXAMPLES = 5;

/** How often a kind of line stood in the logs. */
export interface CountState {
  count: number;
  readonly containers: Set<string>;
  /** Lines as they stood: what a million of them say about time, the first and the last one tell. */
  readonly first: string;
  last: string;
  readonly examples: RawEvent[];
}

/** Counts one more line. */
export function tally(
  counts: Map<LogKind, CountState>,
  kind: LogKind,
  line: string,
  where: Omit<RawEvent, 'line'>,
): void {
  const known = counts.get(kind);
  const text = line.slice(0, 1000);
  const state = known ?? { count: 0, containers: new Set<string>(), first: copy(text), last: text, examples: [] };
  if (known === undefined) counts.set(kind, state);
  state.count += 1;
  state.last = text;
  if (state.examples.length < MAX_EXAMPLES) state.examples.push(rawOf(line, where));
  const id = state.containers.size < MAX_IDS ? ID.exec(line)?.[0] : undefined;
  if (id !== undefined && !state.containers.has(id)) state.containers.add(copy(id));
}

/** ms since 1970 of a line as it stood. */
type TimeOf = (line: string | null) => number | null;

export function countOf(
  { count, containers, first, last, examples }: CountState,
  timeOf: TimeOf,
  eventOf: (raw: RawEvent) => LogEvent,
): LogCount {
  const times = { first: timeOf(first), last: timeOf(last) };
  return { count, containers: containers.size, ...times, examples: examples.map(eventOf) };
}

/** Of lines `get state for <id>`. @param byContainer id -> lines */
export function timeoutsOf(
  byContainer: ReadonlyMap<string, number>,
  state: CountState | undefined,
  timeOf: TimeOf,
): LogFacts['stateTimeouts'] {
  const total = state?.count ?? 0;
  const [first, last] = state === undefined ? [null, null] : [timeOf(state.first), timeOf(state.last)];
  const minutes = first === null || last === null ? 0 : (last - first) / 60_000;
  return { total, byContainer, perMinute: total < 2 || minutes <= 0 ? null : total / minutes };
}
