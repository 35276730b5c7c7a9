import type { Evidence } from '../bundle/evidence.ts';
import type { SignalRecord } from '../bundle/signal-record.ts';
import type { FirstLook, Host } from '../host/port.ts';
import type { Inventory, Target } from '../sandbox/types.ts';

/** Order of volatility: what is gone first is taken first; what disturbs comes after what only looks. */
export const PHASES = ['first-look', 'signal', 'sweep', 'files', 'samples', 'ask', 'linger', 'daemons'] as const;
export type Phase = (typeof PHASES)[number];

/** What the user asked for, after the flags were parsed. Times in ms, sizes in bytes. */
export interface GrabOptions {
  readonly timeoutMs: number;
  readonly samples: number;
  readonly intervalMs: number;
  readonly sinceMs: number;
  readonly maxBytes: number;
  readonly signal: boolean;
  readonly forceSignal: boolean;
  /** Signal also a shim that another run has signalled a moment ago. */
  readonly signalAgain: boolean;
  /** Ask containerd and dockerd for their goroutines, too. */
  readonly daemons: boolean;
  /** Names of collectors to leave out. */
  readonly skip: readonly string[];
  readonly note: string | null;
  /** Files with what kubectl says of the pod, absolute. */
  readonly attach: readonly string[];
}

/** What a collector may use. Nothing in it hangs: reads of the main process are safe ones, all else has a deadline. */
export interface Capture {
  readonly host: Host;
  readonly target: Target;
  readonly inventory: Inventory;
  readonly firstLook: FirstLook;
  readonly options: GrabOptions;
  /** Aborted when the collector's time is over: yield what there is and return. */
  readonly signal: AbortSignal;
  /** ms left until `signal` aborts: the deadline to give to a risky read. */
  remainingMs(): number;
  /** How many times longer than usual its questions may take: 1, or more in a run that was given more time. */
  readonly patience: number;
  /** The shims of the target, none for a node or a remnant. */
  readonly shims: readonly Inventory['sandboxes'][number]['shims'][number][];
  /** 1, 2, … samples: the first at once, then one per interval, until `signal` aborts. */
  rounds(): AsyncIterable<number>;
  /** Facts that a later collector needs (when the signal was sent, the log position before it). */
  readonly notes: Map<string, unknown>;
  /** Appends to the manifest's `signals`. The record stays live: `steps` and `dump` may still change until the bundle is sealed. */
  recordSignal(record: SignalRecord): void;
}

/** One source of evidence: brings bytes, uninterpreted. */
export interface Collector {
  /** 'shim-threads': kebab-case, the name for --skip and in the manifest. */
  readonly name: string;
  readonly phase: Phase;
  /** In a run of the usual time; in a longer one it has more. */
  readonly deadlineMs: number;
  /** Which kinds of target it has something to bring for. Default: all. */
  readonly targets?: readonly Target['kind'][];
  /** Off unless this is so. Default: on. */
  readonly onRequest?: (options: GrabOptions) => boolean;
  /** Brings what the entry saw, so an interrupted run has it too. */
  readonly fromEntry?: true;
  collect(capture: Capture): AsyncIterable<Evidence>;
}
