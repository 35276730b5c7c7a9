import { parseStat } from '../formats/proc/stat.ts';
import { parseStatus } from '../formats/proc/status.ts';
import type { FirstLook, Host } from '../host/port.ts';
import type { RuntimeDaemon } from './types.ts';

/** A process that is called like a shim and has more than one thread. It may still be a `start` or `delete` helper. */
export interface ShimCandidate {
  readonly pid: number;
  readonly startTicks: string;
  /** readlink of /proc/<pid>/cwd, where the first look has it. */
  readonly cwd: string | null;
}

/** A process that is called like containerd or dockerd. It may still be `containerd publish` or the like. */
export interface DaemonCandidate {
  readonly kind: RuntimeDaemon['kind'];
  readonly pid: number;
  readonly startTicks: string;
  readonly procState: string;
}

export interface RuntimeProcesses {
  readonly shims: readonly ShimCandidate[];
  readonly daemons: readonly DaemonCandidate[];
}

/** comm of every shim, `containerd-shim-…` and v1's, as the kernel cuts it at 15 bytes. */
const SHIM = 'containerd-shim';

/** Docker up to 18.06 gave its containerd a name of its own. */
const DAEMONS: ReadonlyMap<string, RuntimeDaemon['kind']> = new Map([
  ['containerd', 'containerd'],
  ['docker-containe', 'containerd'],
  ['dockerd', 'dockerd'],
]);

/**
 * Shims and daemons of the node by comm, read in this process: some 10 us for each process of the node. A child that the
 * shim or containerd has forked and that has not yet got through its execve is called like its parent, shares its
 * command line and working directory, and has one thread; no Go program has so few.
 */
export function findRuntimeProcesses(host: Pick<Host, 'pids' | 'read'>, firstLook: FirstLook | null): RuntimeProcesses {
  const looks = new Map((firstLook?.shims ?? []).map(look => [look.pid, look]));
  const shims: ShimCandidate[] = [];
  const daemons: DaemonCandidate[] = [];
  for (const pid of host.pids()) {
    const comm = text(host, `/proc/${pid}/comm`)?.trimEnd() ?? '';
    const kind = DAEMONS.get(comm);
    if (kind === undefined && !comm.startsWith(SHIM)) continue;
    if ((parseStatus(text(host, `/proc/${pid}/status`) ?? '').threads ?? 0) < 2) continue;
    const stat = parseStat(text(host, `/proc/${pid}/stat`) ?? '');
    if (stat === null) continue;
    const { startTicks, state } = stat;
    if (kind !== undefined) {
      daemons.push({ kind, pid, startTicks, procState: state });
      continue;
    }
    const look = looks.get(pid);
    const same = look !== undefined && parseStat(look.stat ?? '')?.startTicks === startTicks;
    shims.push({ pid, startTicks, cwd: same ? look.cwd : null });
  }
  return { shims, daemons };
}

function text(host: Pick<Host, 'read'>, path: string): string | null {
  const { outcome, body } = host.read(path);
  return outcome === 'ok' ? body.toString('utf8') : null;
}
