import type { GrabOptions } from '../collectors/collector.ts';
import type { ObserverCost, Outcome, StuckProbe } from '../host/port.ts';
import type { Target } from '../sandbox/types.ts';
import type { SignalRecord } from './signal-record.ts';

/**
 * manifest.json, the last entry of a bundle: what is in it, what is not, and how all of it was got. The same as
 * schemas/manifest.schema.json, which is what others parse by.
 *
 * Times: `startedAt` is the start of the process, UTC with milliseconds; every `offsetMs` counts from there on the
 * monotonic clock, so a clock that is set in the middle of a grab does not bend them. Sizes are bytes.
 */
export interface Manifest {
  readonly format: 1;
  readonly tool: Tool;
  readonly capture: CaptureRecord;
  readonly operator: Operator;
  readonly host: HostRecord;
  readonly target: Target;
  /** Every other entry of the bundle, in its order: plan.json first, SUMMARY.md last. */
  readonly items: readonly Item[];
  /** All that was tried and is not in the bundle. */
  readonly notGot: readonly NotGot[];
  readonly signals: readonly SignalRecord[];
  readonly stuckProbes: readonly StuckProbe[];
  readonly observer: Observer;
  readonly output: OutputRecord;
}

export interface Tool {
  readonly name: 'stallcap';
  readonly version: string;
  /** 'node 24.22.3' */
  readonly runtime: string;
}

/**
 * - `complete`: all that was tried was got, or is not expected on this node
 * - `incomplete`: some of `items` and `notGot` say what is missing
 * - `interrupted`: a signal ended the run, `reason` names it
 * - `failed`: a fault of stallcap itself, `reason` names it; what had been captured is here
 */
export type CaptureOutcome = 'complete' | 'incomplete' | 'interrupted' | 'failed';

export interface CaptureRecord {
  readonly startedAt: string;
  readonly endedAt: string;
  /** Monotonic, from the start of the process to the writing of the manifest. */
  readonly durationMs: number;
  readonly argv: readonly string[];
  readonly outcome: CaptureOutcome;
  readonly reason?: string;
  /** What was asked for, defaults filled in. `redact: false` is `--no-redact`. */
  readonly options: GrabOptions & { readonly redact: boolean };
  readonly note: string | null;
  /** Two clocks read at one moment, to place kernel times (seconds since boot) and log times beside each other. */
  readonly clocks: {
    readonly realtime: string;
    /** CLOCK_MONOTONIC, nanoseconds, decimal. */
    readonly monotonicNs: string;
    /** When both were read. */
    readonly offsetMs: number;
  };
}

/** Who ran it. */
export interface Operator {
  readonly uid: number;
  readonly user: string | null;
  /** SUDO_USER. */
  readonly sudoUser: string | null;
}

export interface HostRecord {
  readonly hostname: string;
  /** /proc/sys/kernel/random/boot_id */
  readonly bootId: string | null;
  /** /proc/sys/kernel/osrelease */
  readonly kernel: string;
  readonly architecture: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly uptimeSeconds: number | null;
  readonly timezone: {
    /** 'Europe/Berlin' */
    readonly name: string;
    readonly utcOffsetMinutes: number;
  };
}

/** One entry of the bundle. */
export interface Item {
  /** Relative to the bundle's folder. */
  readonly path: string;
  /** 'stallcap' for plan.json and SUMMARY.md. */
  readonly collector: string;
  /** One of PHASES; 'plan' and 'seal' for what stallcap itself says. */
  readonly phase: string;
  readonly source: string;
  readonly offsetMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** As it stands in the bundle: after redaction, after a cut. */
  readonly bytes: number;
  readonly sha256: string;
  readonly detail?: string;
  /** How many secrets were taken out. */
  readonly redactions: number;
  /** The same by kind; only when there were any. */
  readonly redacted?: Readonly<Record<string, number>>;
  /** Why no secrets were looked for; only when none were. */
  readonly unredacted?: 'binary' | 'off';
}

/** Something that was tried and brought nothing. */
export interface NotGot {
  /** A source, or in words what it would have been. */
  readonly what: string;
  /** The entry it would have become, where there is one. */
  readonly path?: string;
  readonly collector: string;
  readonly phase: string;
  readonly outcome: Outcome;
  readonly detail?: string;
  readonly offsetMs?: number;
  readonly durationMs?: number;
}

/** What stallcap itself cost the node. */
export interface Observer extends ObserverCost {
  readonly wallMs: number;
}

/** The bundle as far as it can say itself: without this manifest and the end of the file. */
export interface OutputRecord {
  /** The one folder in the tar. */
  readonly folder: string;
  /** Where it was being written when the manifest was made. */
  readonly place: string;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
  readonly maxBytes: number;
}

/**
 * Whether this outcome leaves a bundle incomplete (exit code 3). `absent` does not: a node without crictl lacks nothing
 * that was to be had.
 */
export function leavesGap(outcome: Outcome): boolean {
  return outcome !== 'ok' && outcome !== 'empty' && outcome !== 'absent';
}
