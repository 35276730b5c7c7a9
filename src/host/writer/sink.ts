import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { writeWhole } from '../blocking-pipe.ts';
import { errnoOf } from '../outcome.ts';
import type { Place } from '../output.ts';
import type { FileIdentity } from './protocol.ts';
import { PARTIAL } from './superseded.ts';

/** Where a writer's bytes go. All of it may hang; only a writer uses it. */
export interface Sink {
  /** `wrote` is called with the bytes of each piece that is out. Throws the errno's error. */
  write(bytes: Buffer, wrote: (bytes: number) => void): void;
  /** Which file it is; null for stdout. */
  readonly file: FileIdentity | null;
  /** Makes what was written last. */
  sync(): void;
  /** Gives it its final name: its absolute path, null for stdout. */
  name(): string | null;
  /** Takes back what was written, where that can be. */
  discard(): void;
}

/** Throws the errno: the place is of no use. */
export function openSink(place: Place): Sink {
  return place.kind === 'stdout' ? stdoutSink() : fileSink(place.dir, place.name);
}

const STDOUT = 1;
/** Small pieces, so that a slow reader is seen to move: a pipe gives room by pages. */
const STDOUT_SLICE = 4 << 10;
const FILE_SLICE = 256 << 10;

function stdoutSink(): Sink {
  if (wasClosed(STDOUT)) throw Object.assign(new Error('stdout is closed'), { code: 'EBADF' });
  return {
    write: (bytes, wrote) => writeWhole(STDOUT, bytes, STDOUT_SLICE, wrote),
    file: null,
    sync: () => {},
    name: () => null,
    discard: () => {},
  };
}

/**
 * For a standard descriptor that is closed (`>&-`) node opens /dev/null, for reading and writing; a shell's `> /dev/null`
 * is for writing alone. The bundle would vanish into it, and nobody could tell.
 */
function wasClosed(fd: number): boolean {
  const { rdev } = fstatSync(fd);
  const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0';
  return rdev === DEV_NULL && (Number.parseInt(flags, 8) & constants.O_RDWR) !== 0;
}

/** Character device 1:3: kernel Documentation/admin-guide/devices.txt. */
const DEV_NULL = (1 << 8) | 3;

/**
 * `<name>.partial` until it is sealed. Nothing that exists is ever replaced, and no link followed: in /dev/shm anybody may
 * have put one there.
 */
function fileSink(dir: string, name: string): Sink {
  const folder = resolve(dir);
  const final = join(folder, name);
  const partial = final + PARTIAL;
  makeFolder(folder);
  if (lstatSync(final, { throwIfNoEntry: false }) !== undefined) throw exists(final);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = openSync(partial, flags, 0o600);
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return {
    file: { device: dev.toString(), inode: ino.toString() },
    write: (bytes, wrote) => writeWhole(fd, bytes, FILE_SLICE, wrote),
    sync() {
      fsyncSync(fd);
      closeSync(fd);
    },
    name() {
      giveName(partial, final);
      return final;
    },
    discard: () => unlinkSync(partial),
  };
}

/** Its last component only: a mistyped path shall fail, not appear. For /run/stallcap, which no boot leaves behind. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** link(2) fails where the name is taken, rename(2) would replace it. */
function giveName(partial: string, final: string): void {
  try {
    linkSync(partial, final);
    unlinkSync(partial);
  } catch (error) {
    // FAT and some FUSE filesystems have no hard links. Between look and rename nobody else takes this name.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(errnoOf(error))) throw error;
    if (lstatSync(final, { throwIfNoEntry: false }) !== undefined) throw exists(final);
    renameSync(partial, final);
  }
}

function exists(path: string): Error {
  return Object.assign(new Error(`${path} exists`), { code: 'EEXIST' });
}
