import type { ItemKind } from './items-job.ts';
import { MOST_HANGS } from './job.ts';
import type { SweepItem } from './protocol.ts';

/** One process as it comes from a probe. The texts are cut from one body. */
export interface SweptProcess {
  readonly rows: Buffer;
  readonly blocked: Buffer;
  readonly threads: number;
  readonly blockedThreads: number;
}

interface SweptHeader {
  readonly rowsBytes: number;
  readonly blockedBytes: number;
  readonly threads: number;
  readonly blockedThreads: number;
}

const ARGS_KIND = 'cmdline of a process';
const ALL_KIND = 'files of a process';

/**
 * The processes of the node. One that hangs is asked again without what it hung in: without its cmdline (its mmap_lock is
 * held, all else answers), then without everything but comm and status (it is inside execve).
 */
export function sweepRequest(
  tree: readonly number[],
  onHung: (pid: number, file: string) => void,
): ItemKind<SweepItem, SweptProcess> {
  return {
    name: 'sweep',
    request: items => ({ op: 'sweep', items, tree }),
    decode(_item, { rowsBytes, blockedBytes, threads, blockedThreads }: SweptHeader, body) {
      const rows = body.subarray(0, rowsBytes);
      const blocked = body.subarray(rowsBytes, rowsBytes + blockedBytes);
      return { result: { rows, blocked, threads, blockedThreads }, bytes: rowsBytes + blockedBytes };
    },
    giveUp(item, { openFile }) {
      const file = openFile?.startsWith(`/proc/${item.pid}/`) ? openFile : null;
      onHung(item.pid, file?.slice(`/proc/${item.pid}/`.length) ?? 'stat');
      if (item.without === 'all') return { result: NOTHING };
      const args = item.without === undefined && file?.endsWith('/cmdline') === true;
      return { instead: { pid: item.pid, without: args ? 'args' : 'all' } };
    },
    refuse(item, hangs) {
      if (item.without !== 'all' && hangs(ALL_KIND) >= MOST_HANGS)
        return { instead: { pid: item.pid, without: 'all' } };
      if (item.without === undefined && hangs(ARGS_KIND) >= MOST_HANGS) {
        return { instead: { pid: item.pid, without: 'args' } };
      }
      return null;
    },
    describe: item => `/proc/${item.pid}`,
    // Which of both it was is known from the file, not from the item; the first hang of a process is its cmdline's.
    kindOf: item => (item.without === undefined ? ARGS_KIND : ALL_KIND),
  };
}

const NOTHING: SweptProcess = { rows: Buffer.alloc(0), blocked: Buffer.alloc(0), threads: 0, blockedThreads: 0 };
