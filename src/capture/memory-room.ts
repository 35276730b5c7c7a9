import { formatSize } from '../formats/duration.ts';
import type { Place } from '../host/output.ts';
import type { Host } from '../host/port.ts';

/** What is there at a mount point that lies in memory, as a rule. */
export interface Room {
  /** Bytes. */
  readonly free: number;
  /** False where it lies on a disk after all, which may be the one that stalls. */
  readonly inMemory: boolean;
}

/** By mount point. What did not answer is missing. */
export type MemoryRoom = ReadonlyMap<string, Room>;

/** Filesystems in memory on every node, which no disk can stall. In a container /run may be a part of its own layer. */
export const MEMORY_MOUNTS = ['/run', '/dev/shm'] as const;

/** containerd and systemd keep their own state in /run: a node on which it is full is worse off than before. */
const SHARE = 10;
/** A small bundle is worth more than none. */
const LEAST_BYTES = 1 << 20;

const READ_MS = 500;

/** include/uapi/linux/magic.h */
const TMPFS = 0x01021994;
const OVERLAY = 0x794c7630;

/** What these filesystems have free; of memory no more than the node itself has, and nothing in a container's own layer. */
export async function memoryRoom(host: Pick<Host, 'read' | 'readRisky'>): Promise<MemoryRoom> {
  const files = await host.readRisky(
    MEMORY_MOUNTS.map(path => ({ path, what: 'room' }) as const),
    { deadlineMs: READ_MS },
  );
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(host.read('/proc/meminfo').body.toString('latin1'))?.[1];
  const ofNode = available === undefined ? Number.POSITIVE_INFINITY : Number(available) * 1024;
  return new Map(
    files.flatMap(({ path, outcome, body }) => {
      const [free = 0, type] = body.toString('latin1').split(' ').map(Number);
      if (outcome !== 'ok') return [];
      const inMemory = type === TMPFS;
      return [[path, { free: type === OVERLAY ? 0 : inMemory ? Math.min(free, ofNode) : free, inMemory }] as const];
    }),
  );
}

/** How large a bundle may become in a place: a tenth of what is free where that is memory, and known. */
export function bundleBytes(place: Place | undefined, room: MemoryRoom, maxBytes: number): number {
  const free = freeAt(place, room);
  return free === null ? maxBytes : Math.min(maxBytes, Math.max(LEAST_BYTES, Math.floor(free / SHARE)));
}

/** For stderr; null where a bundle may become as large as was asked for. */
export function whySmaller(place: Place | undefined, room: MemoryRoom, maxBytes: number): string | null {
  const free = freeAt(place, room);
  const bytes = bundleBytes(place, room, maxBytes);
  if (free === null || bytes === maxBytes || place?.kind !== 'file') return null;
  return `${place.dir} has ${formatSize(free)} free, so the bundle is held to ${formatSize(bytes)} (-o PATH overrides)`;
}

function freeAt(place: Place | undefined, room: MemoryRoom): number | null {
  if (place?.kind !== 'file' || place.why !== IN_MEMORY) return null;
  const mount = mountAt(place.dir);
  return (mount === undefined ? undefined : room.get(mount)?.free) ?? null;
}

/** Whether what is thought to be memory is known to lie on a disk. */
export function isOnDisk(place: Place, room: MemoryRoom): boolean {
  return place.kind === 'file' && room.get(mountAt(place.dir) ?? '')?.inMemory === false;
}

function mountAt(dir: string): string | undefined {
  return MEMORY_MOUNTS.find(path => dir === path || dir.startsWith(`${path}/`));
}

/** Why a place is one of those that nobody asked for. */
export const IN_MEMORY = 'in memory';
