/** One look at threads, and what two looks at the same thread say. */
import type { DumpedThread } from '../../formats/thread-dump.ts';

/** All threads of one or more processes at one moment. */
export interface Look {
  readonly entry: string;
  /** Order among the looks of a bundle without a manifest. */
  readonly order: number;
  /** ms since the start of the capture, of the first and the last read; null without a manifest. */
  readonly span: { readonly fromMs: number; readonly toMs: number } | null;
  readonly threads: ReadonlyMap<number, DumpedThread>;
  /** Processes of which this look would show every thread: one that is not in it is gone. */
  readonly whole: ReadonlySet<number>;
  /** The sweep over the node takes long, so the time of each of its reads is known badly: it counts where there is nothing better. */
  readonly isSweep: boolean;
}

/** In the very same call: number, arguments, stack and instruction pointer. */
export function isSameCall(a: DumpedThread | undefined, b: DumpedThread | undefined): boolean {
  return a !== undefined && b !== undefined && a.pid === b.pid && a.syscall === b.syscall;
}

/** The same call, and the same kernel stack. */
export function isSamePlace(a: DumpedThread, b: DumpedThread): boolean {
  return isSameCall(a, b) && a.state === b.state && (a.stack ?? []).join('\n') === (b.stack ?? []).join('\n');
}

/** From the middle of one look to the middle of the next, and how far off that may be for a single thread. */
export function secondsBetween(
  { span: a }: Look,
  { span: b }: Look,
): { readonly seconds: number; readonly uncertain: number } | null {
  if (a === null || b === null) return null;
  const seconds = (b.fromMs + b.toMs - a.fromMs - a.toMs) / 2000;
  return { seconds, uncertain: (b.toMs - b.fromMs + (a.toMs - a.fromMs)) / 2000 };
}
