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
  const ageMs = withoutStep(Math.max(0, capture.startedAt - found.at), facts);
  const ageFrom = `exited_at of ${found.who}, ${formatDuration(ageMs)} before the capture`;
  return { at: found.at, ageMs, ageFrom, cite: found.cite };
}

type Clocked = Pick<Facts, 'capture' | 'logs' | 'containers'>;

/** Wall clocks of one machine, read in different processes. */
const CLOCK_SLACK_MS = 1000;

/** How long at least a container's process has been over. */
export interface Ended {
  readonly ageMs: number;
  readonly ageFrom: string;
  readonly cites: readonly Citation[];
}

/**
 * Since its exit, where somebody gives the time of that; else for as long as no thread of the shim had run at the first look, in
 * which the process was gone already: the end of a child wakes its shim. Null when neither is known.
 */
export function endedFor(container: ContainerFacts, facts: Clocked & Pick<Facts, 'shims' | 'threads'>): Ended | null {
  const exit = exitOf(container, facts);
  if (exit !== null) return { ageMs: exit.ageMs, ageFrom: exit.ageFrom, cites: [exit.cite] };
  const shim = facts.shims?.find(({ pid }) => pid === container.shimPid);
  const wasSeen =
    facts.threads?.all.some(({ tid, pid }) => tid === container.initPid && pid === container.initPid) ?? true;
  const look = shim?.firstLook ?? [];
  if (wasSeen || look.length === 0 || look.some(({ state }) => state === 'T' || state === 't')) return null;
  const latest = look.reduce((one, other) => ((other.blockedForMs ?? 0) < (one.blockedForMs ?? 0) ? other : one));
  if (latest.blockedForMs === null) return null;
  const ageFrom = `no thread of shim ${shim?.pid} had run for ${formatDuration(latest.blockedForMs)}, and the end of a child wakes it`;
  return { ageMs: latest.blockedForMs, ageFrom, cites: [latest.cite] };
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
