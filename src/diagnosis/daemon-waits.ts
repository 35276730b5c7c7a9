/** How long goroutines of containerd or dockerd have waited. */
import { formatDuration } from '../formats/duration.ts';
import type { DaemonGoroutines, Facts, GoroutineFact } from './facts.ts';

export interface Waited {
  readonly ageMs: number;
  readonly ageFrom: string;
}

/**
 * The longest wait among them, at least: by its minutes, which Go counts from the first garbage collection that saw it wait; or from
 * an earlier dump in which the same goroutine stood at the same place. Minutes as many as the process has lived are how it is built,
 * no wait. Null when nothing tells.
 */
export function longestWait(
  waiters: readonly GoroutineFact[],
  dump: DaemonGoroutines,
  { daemonGoroutines, daemons }: Pick<Facts, 'daemonGoroutines' | 'daemons'>,
): Waited | null {
  const lifeMs = daemons?.find(({ pid }) => pid === dump.pid)?.ageMs ?? Number.POSITIVE_INFINITY;
  const oldest = waiters
    .filter(({ minutes }) => minutes !== null && minutes * MINUTE_MS < lifeMs - MINUTE_MS)
    .toSorted((a, b) => (b.minutes ?? 0) - (a.minutes ?? 0))[0];
  const earlier = daemonGoroutines?.find(({ pid, sample }) => pid === dump.pid && sample < dump.sample);
  const same = waiters.find(waiter => earlier?.all.some(before => standsAsBefore(waiter, before)) === true);
  const minutesMs = (oldest?.minutes ?? 0) * MINUTE_MS;
  const apartMs = earlier?.at == null || dump.at === null || same === undefined ? 0 : Math.round(dump.at - earlier.at);
  if (minutesMs === 0 && apartMs <= 0) return null;
  if (minutesMs >= apartMs) {
    return { ageMs: minutesMs, ageFrom: `${oldest?.minutes} minutes of goroutine ${oldest?.id} in ${dump.entry}` };
  }
  return {
    ageMs: apartMs,
    ageFrom: `goroutine ${same?.id} stood there in ${earlier?.entry} too, ${formatDuration(apartMs)} earlier`,
  };
}

const MINUTE_MS = 60_000;

function standsAsBefore(now: GoroutineFact, before: GoroutineFact): boolean {
  const place = ({ frames }: GoroutineFact) => frames.map(({ function: name, line }) => `${name}:${line}`).join('\n');
  return now.id === before.id && place(now) === place(before);
}
