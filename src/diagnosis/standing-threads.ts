import { type Role, waitsInVain } from '../formats/proc/waiting-places.ts';
import type { Facts, Thread, ThreadRole } from './facts.ts';
import { MIN_STALL_MS } from './rule.ts';
import { isIn, type Standstill, sleepsIn, standstill } from './standstill.ts';

/** A thread of the pod that stands still where nobody idles. */
export interface Standing {
  readonly thread: Thread;
  readonly standstill: Standstill;
}

const ROLES: Readonly<Record<ThreadRole, Role>> = {
  shim: 'shim',
  runc: 'runc',
  'runc init': 'runc',
  init: 'application',
  application: 'application',
  other: 'application',
};

/**
 * Threads of the pod's tree that have not moved for 5 s, seen so in two looks at least, and that wait for what should have come.
 * Longest first.
 */
export function standingThreads({ threads }: Pick<Facts, 'threads'>): readonly Standing[] {
  const waiting = (threads?.all ?? []).filter(thread => {
    const place = thread.wchan ?? sleepsIn(thread);
    return waitsInVain({ role: ROLES[thread.role], state: thread.state, place }) && !waitsForStart(thread);
  });
  return waiting
    .flatMap((thread): readonly Standing[] => {
      const stood = standstill(thread);
      if (stood === null || stood.proof !== 'looks' || stood.ageMs < MIN_STALL_MS) return [];
      return [{ thread, standstill: stood }];
    })
    .toSorted((a, b) => b.standstill.ageMs - a.standstill.ageMs);
}

/** `runc init` that opens exec.fifo waits for `runc start`: so long as a container is created and not started, that is its place. */
function waitsForStart(thread: Thread): boolean {
  const opens = isIn(thread, 'openat') || isIn(thread, 'open');
  return thread.role === 'runc init' && opens && /^(?:wait_for_partner|fifo_open)$/.test(sleepsIn(thread) ?? '');
}
