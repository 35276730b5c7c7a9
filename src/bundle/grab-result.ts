import type { Outcome } from '../host/port.ts';
import type { CaptureOutcome } from './manifest.ts';

/** What `stallcap grab --json` prints: schemas/grab.schema.json. */
export interface GrabResult {
  /** Absolute path; null when the bundle went to stdout. */
  readonly bundle: string | null;
  readonly outcome: CaptureOutcome;
  readonly exitCode: 0 | 1 | 3;
  readonly target: {
    readonly kind: 'sandbox' | 'remnant' | 'node';
    readonly id: string | null;
    readonly namespace: string | null;
    readonly pod: string | null;
    readonly uid: string | null;
    readonly shimPids: readonly number[];
  };
  readonly startedAt: string;
  readonly durationMs: number;
  readonly bytes: number;
  readonly firstStackMs: number | null;
  /** Threads of the target in D, longest first. */
  readonly blocked: readonly {
    readonly pid: number;
    readonly tid: number;
    readonly comm: string;
    readonly wchan: string | null;
    /** Name of the system call: 'umount2'. */
    readonly syscall: string | null;
    readonly blockedForMs: number | null;
  }[];
  readonly missing: readonly Gap[];
  readonly items: number;
  readonly redactions: number;
  readonly signals: readonly { readonly pid: number; readonly outcome: string; readonly dump: string }[];
  readonly stuckProbes: number;
  readonly abandoned: readonly { readonly place: string; readonly reason: string }[];
  /** What the stall is; null when nothing was judged. */
  readonly verdict: {
    /** `stall`: named, proved or likely; `unexplained`: something stands still and is none of the known kinds; `none`. */
    readonly outcome: 'stall' | 'unexplained' | 'none';
    readonly headline: string;
    /** The wait chain as one sentence; null where there is none. */
    readonly chain: string | null;
    readonly findings: readonly {
      /** Also the name of docs/rules/<rule>.md. */
      readonly rule: string;
      readonly kind: 'stall' | 'context';
      readonly verdict: 'proved' | 'likely' | 'possible';
      readonly says: string;
      readonly ageMs: number | null;
    }[];
  } | null;
}

/** Evidence that is missing, or not whole. */
export interface Gap {
  readonly what: string;
  readonly collector: string;
  readonly outcome: Outcome;
  readonly detail: string | null;
}
