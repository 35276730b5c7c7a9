import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statfsSync,
} from 'node:fs';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import { errnoOf, outcomeOf } from '../outcome.ts';
import type { FileRequest, FileResult } from '../port.ts';
import { wouldWriteToBusyDisk } from './busy-disk.ts';
import { toFileStat, typeOf } from './file-stat.ts';
import { Newest } from './newest.ts';

/** What a probe sends of one file, its body aside. `startMs` is a reading of the monotonic clock. */
export type Reading = Pick<FileResult, 'outcome' | 'detail' | 'stat' | 'durationMs'> & {
  readonly startMs: number;
  readonly bytes: number;
};

const DEFAULT_MAX_BYTES = 1 << 20;
const CHUNK = 64 << 10;
/** Tails of larger files are read into one piece of memory. */
const LARGE_BYTES = 1 << 20;
const scratch = Buffer.allocUnsafe(CHUNK);

/** open(2): a handle on the name alone. Missing in node's constants; the value of every architecture that node runs on. */
const O_PATH = 0o10000000;

/** Links of /proc that lead to whatever a process has open: following one could open a device or the log fifo of a shim. */
const MAGIC_LINK = /^\/proc\/[^/]+\/(task\/\d+\/)?(exe|cwd|root|fd\/\d+|map_files\/[^/]+|ns\/\w+)$/;

/** Reads one file, whatever it is. Never throws. `alive` is called while a long read gets on. */
export function readFile(
  request: FileRequest,
  alive: () => void,
): { readonly reading: Reading; readonly body: Buffer } {
  const startMs = monotonicMs();
  const { body = Buffer.alloc(0), ...rest } = attempt(request, alive);
  return {
    reading: { ...rest, startMs, durationMs: toMicroseconds(monotonicMs() - startMs), bytes: body.length },
    body,
  };
}

type Attempt = Pick<FileResult, 'outcome' | 'detail' | 'stat'> & { readonly body?: Buffer };

function attempt(request: FileRequest, alive: () => void): Attempt {
  try {
    const follow =
      request.follow === true && !MAGIC_LINK.test(request.path) && request.what !== 'link' && request.what !== 'stat';
    // The name is pinned first and judged by what it is: merely opening a fifo lets a writer go on into EPIPE, and opening
    // a device can start a watchdog. What is opened below is this very inode, through the handle.
    const fd = openSync(request.path, O_PATH | (follow ? 0 : constants.O_NOFOLLOW));
    try {
      const stat = fstatSync(fd, { bigint: true });
      const shown = request.withStat === true || request.what === 'stat' ? { stat: toFileStat(stat) } : {};
      try {
        return { ...readPinned(fd, stat, request, alive), ...shown };
      } catch (error) {
        return { ...outcomeOf(errnoOf(error), request.path), ...shown };
      }
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return outcomeOf(errnoOf(error), request.path);
  }
}

function readPinned(fd: number, stat: BigIntStats, request: FileRequest, alive: () => void): Attempt {
  switch (request.what ?? 'body') {
    case 'stat':
      return { outcome: 'ok' };
    case 'link':
      return { outcome: 'ok', body: readlinkSync(request.path, { encoding: 'buffer' }) };
    case 'dir':
      return readDirectory(fd, stat, request);
    case 'room':
      return { outcome: 'ok', body: Buffer.from(roomAt(fd)) };
    case 'body':
      if (!stat.isFile()) return { outcome: 'error', detail: `is a ${typeOf(stat)}: not read` };
      return request.variable === undefined
        ? readBody(fd, request, alive)
        : variableIn(request.variable, readBody(fd, request, alive));
  }
}

/** Of an environment, one value. What is around it is forgotten here. */
function variableIn(name: string, { body = Buffer.alloc(0), ...rest }: Attempt): Attempt {
  if (rest.outcome !== 'ok' && rest.outcome !== 'truncated') return rest;
  const entry = body
    .toString('latin1')
    .split('\0')
    .find(candidate => candidate.startsWith(`${name}=`));
  if (entry === undefined) return { outcome: 'absent', detail: `no ${name} in it` };
  const value = Buffer.from(entry.slice(name.length + 1), 'latin1');
  return value.length === 0 ? { outcome: 'empty' } : { outcome: 'ok', body: value };
}

function readDirectory(fd: number, stat: BigIntStats, request: FileRequest): Attempt {
  const { maxBytes = DEFAULT_MAX_BYTES, spareBusyDisk = false } = request;
  if (!stat.isDirectory()) return { outcome: 'error', detail: `is a ${typeOf(stat)}, not a directory` };
  if (spareBusyDisk && wouldWriteToBusyDisk(stat)) {
    return {
      outcome: 'absent',
      detail: 'not listed: that would write an access time to a disk that has requests waiting',
    };
  }
  const entries = readdirSync(`/proc/self/fd/${fd}`, { withFileTypes: true });
  const lines = entries.map(entry => `${entry.name}${entry.isDirectory() ? '/' : ''}\n`);
  return capped(Buffer.from(lines.join('')), maxBytes, 'head');
}

/** For whoever is not root, as a writer may have to be: tmpfs keeps nothing back, others some percent. */
function roomAt(fd: number): string {
  const { bavail, bsize, type } = statfsSync(`/proc/self/fd/${fd}`);
  return `${bavail * bsize} ${type}`;
}

function capped(all: Buffer, maxBytes: number, keep: 'head' | 'tail'): Attempt {
  if (all.length === 0) return { outcome: 'empty' };
  if (all.length <= maxBytes) return { outcome: 'ok', body: all };
  const body = keep === 'head' ? all.subarray(0, maxBytes) : all.subarray(all.length - maxBytes);
  return { outcome: 'truncated', body, detail: `${keep === 'head' ? 'first' : 'last'} ${maxBytes} bytes` };
}

function readBody(pinned: number, request: FileRequest, alive: () => void): Attempt {
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
