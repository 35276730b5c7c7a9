/**
 * How large a bundle may be, unpacked. The writer keeps to the same limits as the reader, so that no bundle of ours is
 * ever refused as a bomb.
 */

const KiB = 1024;
const MiB = 1024 * KiB;

export interface BundleLimits {
  /** All of the unpacked tar, bytes. */
  readonly unpackedBytes: number;
  /** Number of entries. */
  readonly entries: number;
  /** Unpacked to packed bytes, looked at once `ratioFromBytes` were unpacked. Deflate itself ends at 1,032 : 1. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
  /** One extended header (PAX), bytes. Ours have below 500. */
  readonly extendedHeaderBytes: number;
}

/** Deflate at level 1 packs one repeated letter 224 : 1, and that is the most that a bundle of ours can reach. */
export const BUNDLE_LIMITS: BundleLimits = {
  unpackedBytes: 2048 * MiB,
  entries: 50_000,
  ratio: 400,
  ratioFromBytes: 32 * MiB,
  extendedHeaderBytes: 64 * KiB,
};
