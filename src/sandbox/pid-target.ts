import { parseStat } from '../formats/proc/stat.ts';
import { parseStatus } from '../formats/proc/status.ts';
import type { Host } from '../host/port.ts';
import type { Match } from './matches.ts';
import { type ReadFiles, readsWithin, textOf } from './reads.ts';
import type { Sandbox } from './types.ts';

/** Nested deeper no process of a container is; a bound, since parents may change while they are followed. */
const MAX_STEPS = 64;

/**
 * The sandbox that a process, or a thread as the kernel's log names it (`task containerd-shim:931118 blocked`), belongs to: it is a shim or descends from one; it is or descends from an init whose shim is
 * gone; or its cgroup is named after a container. `comm` is null when there is no such process.
 */
export async function sandboxOfProcess(
  pid: number,
  sandboxes: readonly Sandbox[],
  host: Host,
  deadlineMs: number,
): Promise<{ readonly comm: string | null; readonly match: Match | null }> {
  const comm = host.read(`/proc/${pid}/comm`);
  if (comm.outcome !== 'ok') return { comm: null, match: null };
  const process = parseStatus(host.read(`/proc/${pid}/status`).body.toString('utf8')).tgid ?? pid;
  const chain = withParents(process, host);
  const match = byShim(chain, sandboxes) ?? (await byFiles(chain, sandboxes, host, deadlineMs));
  const ofThread = match === null || process === pid ? match : { ...match, how: `thread of ${process}, ${match.how}` };
  return { comm: comm.body.toString('utf8').trimEnd(), match: ofThread };
}

/** The process, its parent, and so on. */
export function withParents(pid: number, host: Pick<Host, 'read'>): readonly number[] {
  const chain: number[] = [];
  for (let at = pid; at > 1 && chain.length < MAX_STEPS; ) {
    chain.push(at);
    at = parseStatus(host.read(`/proc/${at}/status`).body.toString('utf8')).ppid ?? 0;
  }
  return chain;
}

function byShim(chain: readonly number[], sandboxes: readonly Sandbox[]): Match | null {
  for (const at of chain) {
    const sandbox = sandboxes.find(({ shims }) => shims.some(shim => shim.pid === at));
    if (sandbox !== undefined)
      return { sandbox, how: at === chain[0] ? 'pid of the shim' : `descendant of shim ${at}` };
  }
  return null;
}

async function byFiles(
  chain: readonly number[],
  sandboxes: readonly Sandbox[],
  host: Host,
  deadlineMs: number,
): Promise<Match | null> {
  const inits = chain.filter(at =>
    sandboxes.some(({ containers }) => containers.some(({ initPid }) => initPid === at)),
  );
  const cgroup = `/proc/${chain[0]}/cgroup`;
  const files = await readsWithin(host, deadlineMs).read(
    [...inits, cgroup].map(of => ({ path: typeof of === 'number' ? `/proc/${of}/stat` : of })),
  );
  for (const at of inits) {
    const sandbox = sandboxes.find(({ containers }) => containers.some(container => isInit(at, container, files)));
    if (sandbox !== undefined) return { sandbox, how: at === chain[0] ? 'pid of an init' : `descendant of init ${at}` };
  }
  const ids = idsIn(textOf(files, cgroup) ?? '');
  const sandbox = sandboxes.find(
    ({ id, containers }) => ids.has(id) || containers.some(container => ids.has(container.id)),
  );
  return sandbox === undefined ? null : { sandbox, how: 'cgroup' };
}

/** A container that ended leaves its pid behind in files, and another process may have it by now. */
function isInit(pid: number, { initPid, initStartTicks }: Sandbox['containers'][number], files: ReadFiles): boolean {
  const startTicks = parseStat(textOf(files, `/proc/${pid}/stat`) ?? '')?.startTicks;
  return initPid === pid && initStartTicks !== null && startTicks === initStartTicks;
}

/** Whole components of the paths (`/default/one`), and the long ids inside of them (`cri-containerd-<id>.scope`). */
function idsIn(cgroup: string): ReadonlySet<string> {
  return new Set([...cgroup.split(/[/\n]/), ...(cgroup.match(/[0-9a-f]{64}/g) ?? [])].filter(Boolean));
}
