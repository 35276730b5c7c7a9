import { hash } from 'node:crypto';
import { isLog, roomFor, type Spent, unpackedRoom } from './budget.ts';
import { cutToFit, WORTH_KEEPING_BYTES } from './cut-to-fit.ts';
import { deflateEntry } from './deflate-entry.ts';
import type { PackedPiece } from './packed-stream.ts';
import { tarEntry } from './tar-entry.ts';

/** A file of the bundle, ready to be appended. */
export interface PackedEntry extends PackedPiece {
  readonly body: Buffer;
  readonly sha256: string;
}

export interface EntryName {
  readonly folder: string;
  readonly path: string;
  readonly modified: Date;
}

/** An entry as the bundle has it: a tar entry with its hash, deflated. @param body uncompressed */
export async function packEntry(name: EntryName, body: Buffer): Promise<PackedEntry> {
  const sha256 = hash('sha256', body, 'hex');
  const raw = await tarEntry({ name: `${name.folder}/${name.path}`, body, sha256, modified: name.modified });
  return { body, sha256, raw, packed: await deflateEntry(raw) };
}

/** Deflate at level 1 packs one letter repeated 224 : 1. */
const BEST_RATIO = 256;
const ANY_SMALL_BYTES = 64 * 1024;

/** A log that packs worse towards its end can miss the mark more than once. */
const ATTEMPTS = 4;

/**
 * The entry, or as much of it as `--max-size` leaves room for: the newest part of a log, the first part of all else.
 * null when nothing worth keeping fits.
 */
export async function packToFit(
  name: EntryName,
  whole: Buffer,
  maxBytes: number,
  spent: Spent,
): Promise<PackedEntry | null> {
  const keep = isLog(name.path) ? 'tail' : 'head';
  const room = roomFor(name.path, maxBytes, spent);
  // What cannot fit at deflate's best is not compressed to find that out.
  let body = cutToFit(whole, Math.min(unpackedRoom(spent), Math.max(room, 0) * BEST_RATIO + ANY_SMALL_BYTES), keep);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (body.length < Math.min(whole.length, WORTH_KEEPING_BYTES)) return null;
    const entry = await packEntry(name, body);
    const packedBytes = entry.packed.reduce((sum, chunk) => sum + chunk.length, 0);
    if (packedBytes <= room) return entry;
    body = cutToFit(body, Math.floor(body.length * (room / packedBytes) * 0.9), keep);
  }
  return null;
}
