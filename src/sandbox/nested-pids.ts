import { parseStatus } from '../formats/proc/status.ts';
import type { Host } from '../host/port.ts';
import { prefixOf } from './mount-prefix.ts';
import { type ProcessTree, readProcessTree } from './process-tree.ts';
import type { Container, Sandbox } from './types.ts';

/**
 * A node that is a container itself (kind, k3d) has pids of its own, and what runc wrote down in there is one of those. The
 * inits under the numbers that they have here: the process below the shim whose NSpid (proc_pid_status(5)) has that pid at
 * the shim's level. Null where there is none: another process of ours may have the number.
 */
export function withOurPids(host: Host, sandboxes: readonly Sandbox[]): readonly Sandbox[] {
  const nested = new Set(sandboxes.filter(sandbox => levelOf(sandbox, host) > 1));
  if (nested.size === 0) return sandboxes;
  const tree = readProcessTree(host);
  return sandboxes.map(sandbox => (nested.has(sandbox) ? translated(sandbox, host, tree) : sandbox));
}

/** How many pid namespaces deep its containerd is, ours counted; 0 for one that shares our mount namespace, and so our pids. */
function levelOf({ containers }: Sandbox, host: Pick<Host, 'read'>): number {
  const [pid] = /\d+/.exec(prefixOf(containers[0]?.bundle ?? '')) ?? [];
  return pid === undefined ? 0 : pidsOf(Number(pid), host).length;
}

/** Who a shim says that it is, by our number where it means itself: it knows the number that it has in its own node. */
export function ourPid(host: Pick<Host, 'read'>, shimPid: number, said: number | null): number | null {
  if (said === null || said === shimPid) return said;
  return pidsOf(shimPid, host).includes(said) ? shimPid : said;
}

/** The number that a process knows itself by, in its own node: the innermost. Ours when that cannot be read. */
export function ownPid(host: Pick<Host, 'read'>, pid: number): number {
  return pidsOf(pid, host).at(-1) ?? pid;
}

/** Its number in each pid namespace, ours first. */
function pidsOf(pid: number, host: Pick<Host, 'read'>): readonly number[] {
  return parseStatus(host.read(`/proc/${pid}/status`).body.toString('utf8')).nsPid;
}

function translated(sandbox: Sandbox, host: Pick<Host, 'read'>, tree: ProcessTree): Sandbox {
  const level = levelOf(sandbox, host);
  const ours = new Map(
    sandbox.shims.map(shim => {
      const below = tree.descendantsOf(shim.pid);
      return [shim.pid, new Map(below.map(({ pid }) => [pidsOf(pid, host)[level - 1], pid]))] as const;
    }),
  );
  const initOf = ({ initPid, shimPid }: Container) =>
    initPid === null || shimPid === null ? null : (ours.get(shimPid)?.get(initPid) ?? null);
  return { ...sandbox, containers: sandbox.containers.map(own => ({ ...own, initPid: initOf(own) })) };
}
