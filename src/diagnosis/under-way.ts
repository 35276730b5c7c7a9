/** Whether the runtime has something to do for the pod that was captured. */
import { hasEnded } from './exits.ts';
import type { ContainerFacts, Facts, LogEvent, LogKind } from './facts.ts';

type Subject = Pick<Facts, 'target' | 'containers' | 'logs'>;

/**
 * A container that has ended and is still there, that has not been started, or of whose start CRI has not written yet: its next step
 * is the runtime's. So is a request about the pod that containerd has logged, and of which it has not logged the end.
 */
export function isUnderWay({ target, containers, logs }: Subject): boolean {
  if (target.target.kind !== 'sandbox' || containers === null) return true;
  return containers.some(isBetween) || openRequest(logs?.events ?? []) !== null;
}

function isBetween(container: ContainerFacts): boolean {
  const { initPid, criStatus } = container;
  const isUnwritten = criStatus !== null && criStatus !== 'absent' && criStatus.state === 'CREATED';
  return hasEnded(container) || initPid === null || isUnwritten;
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
