import { isGoRuntimeCall } from '../../formats/proc/syscall.ts';
import { type Architecture, syscallName } from '../../formats/proc/syscall-names.ts';
import type { ProcessLook } from '../../host/port.ts';
import { type ThreadState, threadStates } from './thread-states.ts';

/** A thread that could not join when the Go runtime stops the world. */
export interface HeldThread {
  readonly tid: number;
  readonly why: string;
}

/**
 * Threads that hang, in every one of the looks and in the same place, in a page fault or in a call that the Go runtime
 * makes without giving up its P. States D, S (a fault on FUSE waits interruptibly at first) and t (a call that a tracer
 * holds) alike: what is not running and not in a call of the program's own cannot be stopped.
 * One look alone shows such threads in passing, too: a munmap takes its lock in D for a millisecond.
 */
export function unstoppableThreads(
  looks: readonly ProcessLook[],
  architecture: Architecture | null,
): readonly HeldThread[] {
  const [first, ...later] = looks.map(look => heldIn(look, architecture));
  return [...(first ?? new Map<number, Held>())].flatMap(([tid, { place, why }]) =>
    later.every(held => held.get(tid)?.place === place) ? [{ tid, why }] : [],
  );
}

interface Held {
  /** Equal in two looks only if the thread has not moved. */
  readonly place: string;
  readonly why: string;
}

function heldIn(look: ProcessLook, architecture: Architecture | null): ReadonlyMap<number, Held> {
  const held = new Map<number, Held>();
  for (const thread of threadStates(look)) {
    const why = whyHeld(thread, architecture);
    if (why !== null) held.set(thread.tid, { place: JSON.stringify(thread.call), why });
  }
  return held;
}

function whyHeld({ state, call, wchan, frozen }: ThreadState, architecture: Architecture | null): string | null {
  if (frozen || state === 'R' || state === 'T') return null;
  const where = `(${state}, ${wchan ?? 'no wchan'})`;
  if (call.kind === 'none') return `hangs in a page fault ${where}`;
  if (call.kind === 'unknown') return state === 'D' ? `hangs ${where}, its system call could not be read` : null;
  if (call.kind !== 'call') return null;
  const name = architecture === null ? null : syscallName(call.number, architecture);
  if (name !== null && isGoRuntimeCall(name)) return `hangs in ${name} ${where}, a call of the Go runtime itself`;
  // Without a name nothing tells the runtime's calls from the program's, so any uninterruptible one counts.
  if (name === null && state === 'D') return `hangs in system call ${call.number} ${where}, which has no name here`;
  return null;
}
