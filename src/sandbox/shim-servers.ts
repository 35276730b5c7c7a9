import { type BundlePath, parseBundlePath, TASK_DIRECTORY } from '../formats/runtime/bundle-path.ts';
import { parseShimArgv, type ShimArgv } from '../formats/runtime/shim-argv.ts';
import type { View } from './mount-namespaces.ts';
import type { LinksRead, ProcessLinks } from './process-links.ts';
import type { ShimCandidate } from './runtime-processes.ts';
import type { RuntimeDaemon } from './types.ts';

/** A live shim that serves a pod or a container. */
export interface ShimServer {
  readonly pid: number;
  readonly startTicks: string;
  /** As the shim itself sees it, without the view's prefix. */
  readonly path: BundlePath;
  readonly view: View;
  readonly argv: readonly string[] | null;
  readonly flags: ShimArgv | null;
  readonly exe: string | null;
}

/**
 * Those of the candidates that serve. A shim is named by its working directory. Where that link is denied (root without
 * CAP_SYS_PTRACE, in a container), by its command line, and the state directory of the containerd that it reports to.
 */
export function shimServers(
  candidates: readonly ShimCandidate[],
  links: LinksRead,
  views: ReadonlyMap<number, View>,
  daemons: readonly RuntimeDaemon[],
): readonly ShimServer[] {
  return candidates.flatMap(({ pid, startTicks }) => {
    const of = links.of.get(pid);
    const view = views.get(pid);
    if (of === undefined || view === undefined) return [];
    const { argv, exe } = of;
    const flags = argv === null ? null : parseShimArgv(argv);
    const path = of.cwd === null ? pathByFlags(flags, view, daemons) : parseBundlePath(of.cwd);
    if (path === null || !isServer(of, path)) return [];
    return [{ pid, startTicks, path, view, argv, flags, exe }];
  });
}

function pathByFlags(flags: ShimArgv | null, view: View, daemons: readonly RuntimeDaemon[]): BundlePath | null {
  if (flags?.address == null) return null;
  const daemon = daemons.find(({ kind, address }) => kind === 'containerd' && address === flags.address);
  if (daemon?.state == null) return null;
  const state = daemon.state.slice(view.prefix.length);
  const workdir = flags.workdir === null ? null : parseBundlePath(flags.workdir);
  const namespace = flags.namespace;
  const id = workdir?.id ?? flags.id;
  if (namespace === null || id === null) return null;
  return parseBundlePath(`${state}/${TASK_DIRECTORY[workdir === null ? 'v2' : 'v1']}/${namespace}/${id}`);
}

/**
 * `start` and `delete` helpers have the name and the working directory of a shim. The positional argument tells them.
 * Where the command line hangs, stderr does: a server has the bundle's log fifo there (containerd 1.5 and later) or
 * /dev/null (before), a helper the pipe that containerd collects its output from (runtime/v2/binary.go). v1 has no helpers.
 */
function isServer({ argv, stderr }: ProcessLinks, { dir, generation }: BundlePath): boolean {
  if (argv !== null) return argv.length > 0 && parseShimArgv(argv).action === 'server';
  if (generation === 'v1') return stderr !== null;
  const target = stderr?.replace(/ \(deleted\)$/, '');
  return target === `${dir}/log` || target === '/dev/null';
}
