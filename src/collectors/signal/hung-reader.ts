import { setTimeout as sleep } from 'node:timers/promises';
import { parseStatus } from '../../formats/proc/status.ts';
import type { Host } from '../../host/port.ts';

const BETWEEN_MS = 60;

/** The first process of that name: journald starts early, so its pid is among the low ones. Null when none runs. */
export function findJournald(host: Pick<Host, 'read' | 'pids'>): number | null {
  const isJournald = (pid: number) => host.read(`/proc/${pid}/comm`).body.toString().trim() === 'systemd-journal';
  // One that has ended keeps its name until somebody reaps it.
  const isAlive = (pid: number) => parseStatus(host.read(`/proc/${pid}/status`).body.toString()).state !== 'Z';
  return host.pids().find(pid => isJournald(pid) && isAlive(pid)) ?? null;
}

/**
 * Why the reader at the end of containerd's output takes nothing more: stopped, or in D twice in a row (once is normal: it
 * syncs its files). Null when it does. Its `status` answers whatever it hangs in.
 */
export async function whyHung(host: Pick<Host, 'read'>, pid: number, name: string): Promise<string | null> {
  const state = () => parseStatus(host.read(`/proc/${pid}/status`).body.toString()).state;
  const stuck = (letter: string | null) => letter !== null && 'DTt'.includes(letter);
  const first = state();
  if (!stuck(first)) return null;
  await sleep(BETWEEN_MS);
  const second = state();
  return stuck(second) ? `${name} ${pid} is in state ${second}` : null;
}
