/** Whether the runtime has something to do for the pod that was captured. */
import { isRuncShim } from '../formats/runtime/shim-program.ts';
import { hasEnded } from './exits.ts';
import type { ContainerFacts, Facts, LogEvent, LogKind, TargetFacts } from './facts.ts';

type Subject = Pick<Facts, 'target' | 'containers' | 'logs'>;

/**
 * A container that has ended and is still there, that has not been started, or of whose start CRI has not written yet: its next step
 * is the runtime's. So is a request about the pod that containerd has logged, and of which it has not logged the end.
 */
export function isUnderWay({ target, containers, logs }: Subject): boolean {
  if (target.target.kind !== 'sandbox' || containers === null) return true;
  return containers.some(container => isBetween(container, target)) || openRequest(logs?.events ?? []) !== null;
}

function isBetween(container: ContainerFacts, target: TargetFacts): boolean {
  const { initPid, criStatus } = container;
  const isUnwritten = criStatus !== null && criStatus !== 'absent' && criStatus.state === 'CREATED';
  const hasInit = initPid !== null || runsElsewhere(container, target);
  return hasEnded(container) || !hasInit || isUnwritten;
}

/**
 * It runs, by all who know of it, under a shim that is not runc's: its processes may be in a virtual machine (kata), and that it has no
 * init on this node says nothing.
 */
export function runsElsewhere({ shimPid, views }: ContainerFacts, { target }: TargetFacts): boolean {
  const shim = target.kind === 'sandbox' ? target.sandbox.shims.find(({ pid }) => pid === shimPid) : undefined;
  if (shim === undefined || isRuncShim(shim) !== false) return false;
  const said = views.filter(({ source }) => source !== 'runc').map(({ says }) => says);
  const runs = said.some(says => says === 'running' || says === 'paused');
  return runs && !said.includes('created') && !said.includes('exited');
}

/** What ends each request, by the text of containerd's CRI (pkg/cri/server/instrumented_service.go). */
const ENDS: Partial<Readonly<Record<LogKind, (event: LogEvent) => boolean>>> = {
  'start-requested': ({ kind }) => kind === 'start-returned' || kind === 'start-failed',
  'create-requested': ({ kind, message }) =>
    kind === 'create-failed' || /^CreateContainer .* returns container id/.test(message),
  'stop-requested': ({ kind, message }) =>
    kind === 'kill-wait-failed' || /^Stop(?:Container|PodSandbox) for .* returns successfully/.test(message),
};

/** The first request about the target whose end is not in the log; null for none. */
export function openRequest(events: readonly LogEvent[]): LogEvent | null {
  const open = events.find((event, index) => {
    const ends = ENDS[event.kind];
    if (ends === undefined || event.source !== 'containerd' || event.container === null) return false;
    return !events.slice(index + 1).some(later => later.ids.some(id => event.ids.includes(id)) && ends(later));
  });
  return open ?? null;
}
