import type { CaptureOutcome } from './manifest.ts';

/**
 * - `whole`: every byte is as it was sealed
 * - `cut`: what is there is right, the end is missing (a dropped connection, a full disk, a killed grab)
 * - `damaged`: something is altered, added, out of order, or refused
 */
export type BundleState = 'whole' | 'cut' | 'damaged' | 'not a bundle';

/** What `stallcap verify --json` prints: schemas/verify.schema.json. */
export interface VerifyResult extends Verification {
  /** What was read; '-' is standard input. */
  readonly bundle: string;
  readonly exitCode: 0 | 3;
}

export interface Verification {
  readonly whole: boolean;
  readonly state: BundleState;
  readonly folder: string | null;
  /** Of the file that were read. */
  readonly bytes: number;
  /** Whole entries whose hash is right. */
  readonly entries: number;
  /** Path of the last of them. */
  readonly lastWhole: string | null;
  /** manifest.json is there, whole and readable. */
  readonly manifest: boolean;
  readonly captureOutcome: CaptureOutcome | null;
  readonly problems: readonly Problem[];
  /** All by name when the manifest is there, else what every bundle has and the entry that was cut. */
  readonly missing: readonly string[];
}

export interface Problem {
  /** Stable, kebab-case. */
  readonly code: string;
  /** The entry, escaped; null when it is about the file as a whole. */
  readonly path: string | null;
  /** One sentence; about the entry, where `path` names one: 'is not what its hash says'. */
  readonly says: string;
}
