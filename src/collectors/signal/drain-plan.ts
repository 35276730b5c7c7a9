import type { Shim } from '../../sandbox/types.ts';
import { type ContainerdSide, whyHalted, whyNoReader, whyNotWriting } from './containerd-side.ts';
import type { Sink } from './sink.ts';

/** Who is to read the dump from the shim's fifo. */
export interface DrainPlan {
  /**
   * - `before`: our reader is open before the signal. Without it the dump is lost, or swallowed.
   * - `race`: the same beside a containerd that reads, too. What it gets of the dump stays in its memory or goes where
   *   nobody can read it back, so nothing is lost by trying; we may get all, a part, or none.
   * - `after`: nobody reads beside containerd, for two readers split the lines between them. Only when the dump has not
   *   come through in time is the fifo drained.
   */
  readonly when: 'before' | 'race' | 'after';
  /** What a dump that does not come is lost to. */
  readonly cause: 'no reader' | 'containerd not draining' | 'log sink hung' | 'log sink keeps nothing' | null;
  readonly why: string;
  /**
   * Somebody else who may read the fifo in the same moment, so that ours has to be first.
   * - `reads on`: for as long as something comes
   * - `reads once`: it hangs in writing on what it got; better it gets something else than a piece of the dump
   */
  readonly rival: 'none' | 'reads on' | 'reads once';
}

/**
 * The first rung of the ladder, from what was read just before the signal. v1 shims: containerd since 1.4.1 reads their
 * log and throws it away, unless the shim was started with -debug; before that nobody reads it.
 */
export function planDrain(shim: Shim, containerd: ContainerdSide, sink: Sink): DrainPlan {
  const gone = whyNoReader(containerd, shim);
  if (gone !== null) return { when: 'before', cause: 'no reader', why: gone, rival: 'none' };
  const halted = whyHalted(containerd);
  if (halted !== null) return { when: 'before', cause: 'containerd not draining', why: halted, rival: 'none' };

  const race = { when: 'race', rival: 'reads on' } as const;
  if (shim.generation === 'v1' && shim.argv?.includes('-debug') !== true)
    return {
      ...race,
      cause: 'log sink keeps nothing',
      why: 'containerd throws the log of a v1 shim without -debug away',
    };
  // It reads on, and the dump would lie in its memory.
  const blocked = whyNotWriting(containerd);
  if (blocked !== null) return { ...race, cause: 'log sink hung', why: blocked, rival: 'reads once' };
  if (sink.hung !== null) return { ...race, cause: 'log sink hung', why: `behind containerd ${sink.hung}` };
  if (sink.kind === 'none') return { ...race, cause: 'log sink keeps nothing', why: sink.words };
  return {
    when: 'after',
    cause: null,
    why: `containerd ${containerd.daemon?.pid} reads the fifo; ${sink.words}`,
    rival: 'none',
  };
}

/** Containerd's descriptor that a shim's log is copied to: its standard output for v1 shims, else its standard error. */
export function outletOf(shim: Shim): 1 | 2 {
  return shim.generation === 'v1' ? 1 : 2;
}
