import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errnoOf, outcomeOf } from '../outcome.ts';
import type { FileRequest, FileResult } from '../port.ts';
import { Newest } from './newest.ts';

/** What became of a file. */
export type Attempt = Pick<FileResult, 'outcome' | 'detail' | 'stat'> & { readonly body?: Buffer };

export const DEFAULT_MAX_BYTES = 1 << 20;
const CHUNK = 64 << 10;
/** Tails of larger files are read into one piece of memory. */
const LARGE_BYTES = 1 << 20;
const scratch = Buffer.allocUnsafe(CHUNK);

/** The bytes of a regular file. @param pinned a handle on it (O_PATH) @throws what open(2) and fstat(2) do */
export function readBody(pinned: number, request: FileRequest, alive: () => void): Attempt {
  const { maxBytes = DEFAULT_MAX_BYTES, keep = 'head' } = request;
  const fd = openToRead(`/proc/self/fd/${pinned}`);
  try {
    const size = Number(fstatSync(fd).size);
    // A file of /proc has size 0 and no end to count from: its tail is what remains after reading all of it.
    const skipped = keep === 'tail' && size > maxBytes ? size - maxBytes : 0;
    const large = keep === 'tail' && size > LARGE_BYTES;
    const { bytes, total, failed } = large
      ? readNewest(fd, skipped, maxBytes, alive)
      : readOn(fd, skipped, maxBytes, keep, alive);
    const result: Attempt =
      total > bytes.length
        ? { outcome: 'truncated', body: bytes, detail: `last ${maxBytes} bytes` }
        : capped(bytes, maxBytes, keep);
    if (failed !== null && bytes.length === 0) return outcomeOf(failed, request.path);
    if (failed !== null)
      return { outcome: 'truncated', body: result.body ?? bytes, detail: `${failed} after ${bytes.length} bytes` };
    if (skipped === 0) return result;
    return { outcome: 'truncated', body: result.body ?? bytes, detail: `last ${maxBytes} of ${size} bytes` };
  } finally {
    closeSync(fd);
  }
}

/**
 * Without a new access time where that is permitted (to the owner, and to CAP_FOWNER): it would dirty the inode on a disk that
 * may be stalled, and begin a transaction of a journal that may be full. Directories and links have no such way in node.
 */
function openToRead(path: string): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  try {
    return openSync(path, flags | constants.O_NOATIME);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error;
    return openSync(path, flags);
  }
}

/** Until a read gives 0 bytes; at most one byte more than `maxBytes` for a head, the newest chunks for a tail. */
function readOn(fd: number, from: number, maxBytes: number, keep: 'head' | 'tail', alive: () => void) {
  const chunks: Buffer[] = [];
  let kept = 0;
  let position = from;
  let failed: string | null = null;
  while (keep === 'tail' || kept <= maxBytes) {
    const wanted = keep === 'head' ? Math.min(CHUNK, maxBytes + 1 - kept) : CHUNK;
    let read: number;
    try {
      read = readSync(fd, scratch, 0, wanted, from === 0 ? null : position);
    } catch (error) {
      failed = errnoOf(error);
      break;
    }
    if (read === 0) break;
    position += read;
    kept += read;
    chunks.push(Buffer.from(scratch.subarray(0, read)));
    while (keep === 'tail' && kept - (chunks[0]?.length ?? 0) > maxBytes) kept -= chunks.shift()?.length ?? 0;
    alive();
  }
  const bytes = Buffer.concat(chunks);
  return { bytes, total: bytes.length, failed };
}

/** The same for the tail of a file that is large. */
function readNewest(fd: number, from: number, maxBytes: number, alive: () => void) {
  const newest = new Newest(maxBytes);
  for (;;) {
    let read: number;
    try {
      read = readSync(fd, newest.room(CHUNK), 0, CHUNK, from + newest.total);
    } catch (error) {
      return { bytes: newest.bytes(), total: newest.total, failed: errnoOf(error) };
    }
    if (read === 0) return { bytes: newest.bytes(), total: newest.total, failed: null };
    newest.took(read);
    alive();
  }
}

/** At most `maxBytes` of what was read. */
export function capped(all: Buffer, maxBytes: number, keep: 'head' | 'tail'): Attempt {
  if (all.length === 0) return { outcome: 'empty' };
  if (all.length <= maxBytes) return { outcome: 'ok', body: all };
  const body = keep === 'head' ? all.subarray(0, maxBytes) : all.subarray(all.length - maxBytes);
  return { outcome: 'truncated', body, detail: `${keep === 'head' ? 'first' : 'last'} ${maxBytes} bytes` };
}
