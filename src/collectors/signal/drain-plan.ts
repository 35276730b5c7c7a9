import type { Shim } from '../../sandbox/types.ts';
import { type ContainerdSide, whyNotDraining } from './containerd-side.ts';
import type { Sink } from './sink.ts';

/** Who is to read the dump from the shim's fifo. */
export interface DrainPlan {
  /**
   * - `before`: our reader is open before the signal. Without it the dump is lost, or swallowed.
   * - `race`: the same beside a containerd that reads, too. What it gets of the dump goes where nobody can read it back,
   *   so nothing is lost by trying; we may get all, a part, or none.
   * - `after`: nobody reads beside containerd, for two readers split the lines between them. Only when the dump has not
   *   come through in time is the fifo drained.
   */
  readonly when: 'before' | 'race' | 'after';
  readonly why: string;
}

/**
 * The first rung of the ladder, from what was read just before the signal. v1 shims: containerd since 1.4.1 reads their
 * log and throws it away, unless the shim was started with -debug; before that nobody reads it.
 */
export function planDrain(shim: Shim, containerd: ContainerdSide, sink: Sink): DrainPlan {
  const why = whyNotDraining(containerd, shim);
  if (why !== null) return { when: 'before', why };
  if (shim.generation === 'v1' && shim.argv?.includes('-debug') !== true)
    return { when: 'race', why: 'containerd throws the log of a v1 shim without -debug away' };
  if (sink.hung !== null) return { when: 'before', why: `behind containerd ${sink.hung}` };
  if (sink.kind === 'none') return { when: 'race', why: sink.words };
  return { when: 'after', why: `containerd ${containerd.daemon?.pid} reads the fifo; ${sink.words}` };
}

/** Containerd's descriptor that a shim's log is copied to: its standard output for v1 shims, else its standard error. */
export function outletOf(shim: Shim): 1 | 2 {
  return shim.generation === 'v1' ? 1 : 2;
}
