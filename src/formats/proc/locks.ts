/** One line of /proc/locks: proc_locks(5), kernel fs/locks.c lock_get_status. */
export interface FileLock {
  readonly id: number;
  /** A request that waits for the lock of the same id (`->`). */
  readonly waits: boolean;
  /** FLOCK, POSIX, OFDLCK, LEASE, DELEG. */
  readonly kind: string;
  readonly access: string;
  /** -1 for an OFD lock; 0 for one taken in another pid namespace. */
  readonly pid: number;
  /** `254:0`, decimal as everywhere else (the file has it in hex). Not the device of mountinfo for btrfs and overlay. */
  readonly device: string;
  readonly inode: string;
}

const LINE = /^(\d+): +(-> +)?(\w+) +(\w+) +(\w+) +(-?\d+) +([0-9a-f]+):([0-9a-f]+):(\d+) /;

/** Lines that are none (`<none>:0` for a file that is gone) are left out. */
export function parseLocks(text: string): readonly FileLock[] {
  const locks: FileLock[] = [];
  for (const line of text.split('\n')) {
    const [, id, arrow, kind = '', , access = '', pid, major = '', minor = '', inode = ''] = LINE.exec(line) ?? [];
    if (id === undefined) continue;
    locks.push({
      id: Number(id),
      waits: arrow !== undefined,
      kind,
      access,
      pid: Number(pid),
      device: `${Number.parseInt(major, 16)}:${Number.parseInt(minor, 16)}`,
      inode,
    });
  }
  return locks;
}
