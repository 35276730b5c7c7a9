import type { SweepRequest as SweepOf } from '../port.ts';
import type { ItemKind } from './items-job.ts';
import { MOST_HANGS } from './job.ts';
import type { SweepItem } from './protocol.ts';

/** One process as it comes from a probe. The texts are cut from one body. */
export interface SweptProcess {
  readonly rows: Buffer;
  readonly blocked: Buffer;
  readonly threads: number;
  readonly blockedThreads: number;
  readonly spared?: 'args' | 'files';
}

interface SweptHeader {
  readonly rowsBytes: number;
  readonly blockedBytes: number;
  readonly threads: number;
  readonly blockedThreads: number;
  readonly spared?: 'args' | 'files';
}

const ARGS_KIND = 'cmdline of a process';
const FILES_KIND = 'files of a process';

/**
 * The processes of the node. One that hangs is asked again without what it hung in: without its cmdline (its mmap_lock is
 * held, all else answers), or without everything but comm and status (it is inside execve). After some hangs others that
 * look alike are spared the same, since a stalled disk holds many; all the rest is still read.
 */
export function sweepRequest(
  { tree, clocks }: SweepOf,
  onHung: (pid: number, file: string) => void,
): ItemKind<SweepItem, SweptProcess> {
  return {
    name: 'sweep',
    request: items => ({ op: 'sweep', items, tree, clocks: [...(clocks?.values() ?? [])] }),
    decode(_item, { rowsBytes, blockedBytes, ...rest }: SweptHeader, body) {
      const rows = body.subarray(0, rowsBytes);
      const blocked = body.subarray(rowsBytes, rowsBytes + blockedBytes);
      return { result: { rows, blocked, ...rest }, bytes: rowsBytes + blockedBytes };
    },
    giveUp(item, { openFile }) {
      const folder = `/proc/${item.pid}/`;
      const file = openFile?.startsWith(folder) === true ? openFile.slice(folder.length) : null;
      onHung(item.pid, file ?? 'stat');
      if (item.withoutFiles === 'always') return { result: NOTHING };
      return { instead: isCmdline(file) ? { ...item, withoutArgs: 'always' } : { ...item, withoutFiles: 'always' } };
    },
    refuse(item, hangs) {
      const args = caution(hangs(ARGS_KIND), 'blocked', 'always');
      const files = caution(hangs(FILES_KIND), 'blocked', 'single');
      const withoutArgs = item.withoutArgs === 'always' ? 'always' : args;
      const withoutFiles = item.withoutFiles === 'always' ? 'always' : files;
      if (withoutArgs === item.withoutArgs && withoutFiles === item.withoutFiles) return null;
      const { pid } = item;
      return {
        instead: {
          pid,
          ...(withoutArgs === undefined ? {} : { withoutArgs }),
          ...(withoutFiles === undefined ? {} : { withoutFiles }),
        },
      };
    },
    describe: item => `/proc/${item.pid}`,
    kindOf: (_item, openFile) => (isCmdline(openFile) ? ARGS_KIND : FILES_KIND),
  };
}

/** What is left out after so many hangs: first where it is likely to hang again, then wherever it could. */
function caution<Likely, Possible>(hangs: number, likely: Likely, possible: Possible): Likely | Possible | undefined {
  if (hangs >= 2 * MOST_HANGS) return possible;
  return hangs >= MOST_HANGS ? likely : undefined;
}

/** Read through the first thread that lives: '/proc/<pid>/task/<tid>/cmdline'. */
export function isCmdline(file: string | null): boolean {
  return file?.endsWith('/cmdline') === true;
}

const NOTHING: SweptProcess = { rows: Buffer.alloc(0), blocked: Buffer.alloc(0), threads: 0, blockedThreads: 0 };
