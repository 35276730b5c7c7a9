/** When a container's process ended, and who says so: the age of everything that waits for its end to be handled. */
import { formatDuration } from '../formats/duration.ts';
import type { Citation } from './citation.ts';
import { withoutStep } from './clock-step.ts';
import type { ContainerFacts, Facts } from './facts.ts';

export interface Exit {
  /** ms since 1970. */
  readonly at: number;
  /** How long before the capture, ms. */
  readonly ageMs: number;
  /** For people: where the time comes from. */
  readonly ageFrom: string;
  readonly cite: Citation;
}

/**
 * The end of a container's process by the shim's answer to State, else by the newest exit event in containerd's log. Null when
 * nobody gives a time, and when the time cannot be (an `exited_at` after the line that reports it, or after the capture).
 */
export function exitOf({ id, shimAnswer }: ContainerFacts, facts: Clocked): Exit | null {
  const { capture, logs } = facts;
  const told = (logs?.events ?? []).flatMap(({ container, exitedAt, time, cite }) => {
    if (container !== id || exitedAt === null || (time !== null && exitedAt > time + CLOCK_SLACK_MS)) return [];
    return [{ at: exitedAt, who: 'the exit event in the log', cite }];
  });
  const own = shimAnswer?.exitedAt ?? null;
  const [newest = null] = told.toSorted((a, b) => b.at - a.at);
  const found =
    shimAnswer === null || own === null ? newest : { at: own, who: "the shim's answer", cite: shimAnswer.cite };
  if (found === null || found.at > capture.startedAt + CLOCK_SLACK_MS) return null;
  const ageMs = Math.round(withoutStep(Math.max(0, capture.startedAt - found.at), facts));
  const ageFrom = `exited_at of ${found.who}, ${formatDuration(ageMs)} before the capture`;
  return { at: found.at, ageMs, ageFrom, cite: found.cite };
}

type Clocked = Pick<Facts, 'capture' | 'logs' | 'containers'>;

/** Wall clocks of one machine, read in different processes. */
const CLOCK_SLACK_MS = 1000;

/** How long a container's process has been over. */
export interface Ended {
  readonly ageMs: number;
  readonly ageFrom: string;
  /** `13.3 s`, `7.0 s at least`. */
  readonly words: string;
  readonly cites: readonly Citation[];
}

/**
 * Since its exit, where somebody gives the time of that. Else, of a zombie, since it last ran, which is when it died; of one that was
 * gone at the first look, for as long as no thread of its shim had run then: the end of a child wakes it. Null when none is known.
 */
export function endedFor(container: ContainerFacts, facts: Clocked & Pick<Facts, 'shims' | 'threads'>): Ended | null {
  const exit = exitOf(container, facts);
  if (exit !== null) {
    return { ageMs: exit.ageMs, ageFrom: exit.ageFrom, words: formatDuration(exit.ageMs), cites: [exit.cite] };
  }
  return container.init === 'zombie' ? zombieFor(container, facts) : quietFor(container, facts);
}

function zombieFor({ initPid }: ContainerFacts, { threads }: Pick<Facts, 'threads'>): Ended | null {
  const leader = threads?.all.find(({ tid, pid, state }) => tid === initPid && pid === initPid && state === 'Z');
  if (leader === undefined || leader.blockedForMs === null) return null;
  const words = formatDuration(leader.blockedForMs);
  const ageFrom = `the scheduler's clock: zombie ${initPid} last ran ${words} before`;
  return { ageMs: leader.blockedForMs, ageFrom, words, cites: [leader.cites.at(-1) ?? leader.cites[0]] };
}

function quietFor(container: ContainerFacts, facts: Pick<Facts, 'shims' | 'threads'>): Ended | null {
  const shim = facts.shims?.find(({ pid }) => pid === container.shimPid);
  const wasSeen =
    facts.threads?.all.some(({ tid, pid }) => tid === container.initPid && pid === container.initPid) ?? true;
  const look = shim?.firstLook ?? [];
  if (wasSeen || look.length === 0 || look.some(({ state }) => state === 'T' || state === 't')) return null;
  const latest = look.reduce((one, other) => ((other.blockedForMs ?? 0) < (one.blockedForMs ?? 0) ? other : one));
  if (latest.blockedForMs === null) return null;
  const words = formatDuration(latest.blockedForMs);
  const ageFrom = `no thread of shim ${shim?.pid} had run for ${words}, and the end of a child wakes it`;
  return { ageMs: latest.blockedForMs, ageFrom, words: `${words} at least`, cites: [latest.cite] };
}

/** Its process is over: gone, its pid somebody else's, or a zombie that nobody has reaped. */
export function hasEnded({ init }: ContainerFacts): boolean {
  return init === 'gone' || init === 'reused' || init === 'zombie';
}

/** What CRI, or docker, has on disk: that the container runs. Null where neither is known. */
export function believedRunning({
  criStatus,
  docker,
}: ContainerFacts): { readonly by: string; readonly cite: Citation } | null {
  if (criStatus !== null && criStatus !== 'absent' && criStatus.state === 'RUNNING')
    return { by: 'CRI', cite: criStatus.cite };
  if (docker !== null && docker !== 'absent' && docker.running) return { by: 'docker', cite: docker.cite };
  return null;
}

/** `container app (c1c1c1c1c1c1)`, for sentences. */
export function nameOf({ id, kind, name }: Pick<ContainerFacts, 'id' | 'kind' | 'name'>): string {
  const short = id.slice(0, 12);
  if (kind === 'sandbox') return `the sandbox (${short})`;
  return name === null ? `container ${short}` : `container ${name} (${short})`;
}
