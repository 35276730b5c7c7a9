import type { CriQuestion } from '../../formats/cri/calls.ts';
import type { CpuClock } from '../../formats/proc/cpu-clocks.ts';
import type { CommandRequest, FileRequest, ShimQuestion, SignalMark } from '../port.ts';

/** Headers of the frames that parent and probe exchange over the probe's stdin and stdout; see frames.ts. */

/** What a probe can be asked. Items carry their index in the parent's list, so that a fresh probe can take over. */
export type Request =
  | { readonly op: 'files'; readonly items: readonly Indexed<FileRequest>[] }
  | { readonly op: 'look'; readonly items: readonly Indexed<number>[] }
  | {
      readonly op: 'sweep';
      readonly items: readonly Indexed<SweepItem>[];
      readonly tree: readonly number[];
      readonly clocks: readonly CpuClock[];
    }
  /** `untilMs`: reading of the monotonic clock, as all times here. */
  | { readonly op: 'run'; readonly command: Omit<CommandRequest, 'signal'>; readonly untilMs: number }
  | { readonly op: 'kmsg'; readonly maxBytes: number }
  | { readonly op: 'usage'; readonly pids: readonly number[]; readonly pauseMs: number }
  /** Each answer comes in a frame of its own, as soon as it is there. */
  | { readonly op: 'ask-shims'; readonly questions: readonly ShimQuestion[]; readonly untilMs: number }
  | { readonly op: 'mark-signal'; readonly mark: SignalMark }
  /** The same. */
  | {
      readonly op: 'ask-cri';
      readonly socket: string;
      readonly questions: readonly CriQuestion[];
      readonly untilMs: number;
    }
  | {
      readonly op: 'ask-http';
      readonly socket: string;
      readonly paths: readonly string[];
      readonly untilMs: number;
    }
  | { readonly op: 'drain'; readonly pid: number; readonly fd: number; readonly decoy: boolean }
  /** Only while a drain runs. `notBeforeMs`: wall clock, ms since 1970. */
  | { readonly op: 'finish'; readonly marker: string; readonly notBeforeMs: number; readonly untilMs: number };

export interface Indexed<T> {
  readonly index: number;
  readonly item: T;
}

/**
 * One process of the sweep, and what is left out of it since probes hung in such reads.
 * - `args`: its cmdline (`blocked`: when a thread of it is in D)
 * - `files`: all but comm and status (`blocked`: when it has one thread, in D; `single`: when it has one thread)
 */
export interface SweepItem {
  readonly pid: number;
  readonly withoutArgs?: 'blocked' | 'always';
  readonly withoutFiles?: 'blocked' | 'single' | 'always';
}

/** Header of what a probe sends. */
export type Reply =
  /** It is past exec and its own start, so its files in /proc can be read. */
  | { readonly kind: 'ready' }
  /** Still at the same item, and getting on. */
  | { readonly kind: 'alive' }
  /** Results of the next items, in the order asked; their bytes follow each other in the body. */
  | { readonly kind: 'items'; readonly results: readonly unknown[] }
  /**
   * The request is answered. `spent`: this probe must not be used again. `children`: a command hung, and this ran below
   * the probe, as `pid comm state wchan`.
   */
  | {
      readonly kind: 'done';
      readonly result?: unknown;
      readonly spent?: boolean;
      readonly children?: readonly string[];
    }
  /** A drain has its fifo open, or not. */
  | { readonly kind: 'opened'; readonly outcome: string; readonly detail?: string };
