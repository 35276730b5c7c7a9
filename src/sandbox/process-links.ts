import { splitCmdline } from '../formats/runtime/flags.ts';
import type { FileRequest } from '../host/port.ts';
import { type Reads, textOf } from './reads.ts';
import type { RuntimeProcesses } from './runtime-processes.ts';

/** What the links and the command line of a process say; null where they could not be read. */
export interface ProcessLinks {
  readonly cwd: string | null;
  readonly exe: string | null;
  /** Where its stderr goes. */
  readonly stderr: string | null;
  readonly argv: readonly string[] | null;
  /** `mnt:[4026531841]` */
  readonly mountNamespace: string | null;
}

export interface LinksRead {
  readonly of: ReadonlyMap<number, ProcessLinks>;
  /** Of the process that reads. */
  readonly ownMountNamespace: string | null;
}

/** A command line hangs when the process's mmap_lock is held; many must not eat the time of what comes after them. */
const CMDLINE_MS = 300;

/** Of a shim or a daemon it has some hundred; whoever only goes by such a name may have 2 MB, a hundred times. */
const CMDLINE_BYTES = 32 << 10;

/** One call: links first, which answer also for a process whose mmap_lock is held, then command lines. */
export async function readLinks({ shims, daemons }: RuntimeProcesses, reads: Reads): Promise<LinksRead> {
  const own = '/proc/self/ns/mnt';
  const processes = [...shims, ...daemons];
  const files = await reads.read(
    [
      { path: own, what: 'link' },
      ...shims.flatMap(({ pid, cwd }) => [
        ...(cwd === null ? [link(pid, 'cwd')] : []),
        link(pid, 'ns/mnt'),
        link(pid, 'exe'),
        link(pid, 'fd/2'),
      ]),
      ...daemons.flatMap(({ pid }) => [link(pid, 'cwd'), link(pid, 'ns/mnt'), link(pid, 'exe')]),
      ...processes.map(({ pid }) => ({ path: `/proc/${pid}/cmdline`, maxBytes: CMDLINE_BYTES })),
    ],
    { itemMs: CMDLINE_MS },
  );
  const looked = new Map(shims.map(({ pid, cwd }) => [pid, cwd]));
  const linksOf = ({ pid }: { readonly pid: number }): ProcessLinks => {
    const cmdline = files.get(`/proc/${pid}/cmdline`);
    return {
      cwd: looked.get(pid) ?? textOf(files, `/proc/${pid}/cwd`),
      exe: textOf(files, `/proc/${pid}/exe`),
      stderr: textOf(files, `/proc/${pid}/fd/2`),
      argv: cmdline?.outcome === 'ok' ? splitCmdline(cmdline.body) : null,
      mountNamespace: textOf(files, `/proc/${pid}/ns/mnt`),
    };
  };
  return {
    of: new Map(processes.map(process => [process.pid, linksOf(process)])),
    ownMountNamespace: textOf(files, own),
  };
}

function link(pid: number, name: string): FileRequest {
  return { path: `/proc/${pid}/${name}`, what: 'link' };
}
