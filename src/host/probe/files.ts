import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  statfsSync,
} from 'node:fs';
import { monotonicMs, toMicroseconds } from '../clock.ts';
import { errnoOf, outcomeOf } from '../outcome.ts';
import type { FileRequest, FileResult } from '../port.ts';
import { wouldWriteToBusyDisk } from './busy-disk.ts';
import { type Attempt, capped, DEFAULT_MAX_BYTES, readBody } from './file-body.ts';
import { toFileStat, typeOf } from './file-stat.ts';

/** What a probe sends of one file, its body aside. `startMs` is a reading of the monotonic clock. */
export type Reading = Pick<FileResult, 'outcome' | 'detail' | 'stat' | 'durationMs'> & {
  readonly startMs: number;
  readonly bytes: number;
};

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
