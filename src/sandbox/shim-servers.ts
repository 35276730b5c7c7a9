import { type BundlePath, parseBundlePath } from '../formats/runtime/bundle-path.ts';
import { parseShimArgv, type ShimArgv } from '../formats/runtime/shim-argv.ts';
import type { View } from './mount-namespaces.ts';
import type { LinksRead, ProcessLinks } from './process-links.ts';
import type { ShimCandidate } from './runtime-processes.ts';

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

/** Those of the candidates that serve. A shim without a bundle for working directory is none that can be named. */
export function shimServers(
  candidates: readonly ShimCandidate[],
  links: LinksRead,
  views: ReadonlyMap<number, View>,
): readonly ShimServer[] {
  return candidates.flatMap(({ pid, startTicks }) => {
    const of = links.of.get(pid);
    const path = of?.cwd == null ? null : parseBundlePath(of.cwd);
    const view = views.get(pid);
    if (of === undefined || path === null || view === undefined || !isServer(of, path)) return [];
    const { argv, exe } = of;
    return [{ pid, startTicks, path, view, argv, flags: argv === null ? null : parseShimArgv(argv), exe }];
  });
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
