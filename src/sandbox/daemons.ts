import {
  CONTAINERD_DEFAULTS,
  type ContainerdConfig,
  parseContainerdConfig,
} from '../formats/runtime/containerd-config.ts';
import { parseContainerdArgv, parseDockerdArgv } from '../formats/runtime/daemon-argv.ts';
import { parseDockerDaemonConfig } from '../formats/runtime/docker-daemon-config.ts';
import { CONFIG_BYTES, type ConfigFile, dropInDirectory, readImports } from './containerd-imports.ts';
import type { View } from './mount-namespaces.ts';
import type { LinksRead, ProcessLinks } from './process-links.ts';
import { type ReadFiles, type Reads, textOf } from './reads.ts';
import type { DaemonCandidate } from './runtime-processes.ts';
import type { RuntimeDaemon } from './types.ts';

interface Asked {
  readonly candidate: DaemonCandidate;
  readonly links: ProcessLinks;
  readonly view: View;
  readonly config: ConfigFile;
}

/** A node has a few, one whose nodes are containers (kind) some ten. */
const MOST_DAEMONS = 64;

const DOCKER_DEFAULTS = {
  config: '/etc/docker/daemon.json',
  root: '/var/lib/docker',
  state: '/var/run/docker',
  address: 'unix:///var/run/docker.sock',
} as const;

/**
 * The daemons, and where they keep their things: flags, then the configuration, then the defaults. Paths as we can open
 * them, addresses as the daemon has them. dockerd's `state` is its exec-root, `root` its data-root.
 */
export async function readDaemons(
  candidates: readonly DaemonCandidate[],
  links: LinksRead,
  views: ReadonlyMap<number, View>,
  reads: Reads,
): Promise<readonly RuntimeDaemon[]> {
  const all = candidates.flatMap(candidate => {
    const of = links.of.get(candidate.pid);
    const view = views.get(candidate.pid);
    if (of === undefined || view === undefined || !isDaemon(candidate, of)) return [];
    return [
      { candidate, links: of, view, config: { path: view.prefix + configOf(candidate, of), prefix: view.prefix } },
    ];
  });
  // Those of our own files first: a container may call any number of its processes so.
  const asked = all.toSorted((a, b) => a.view.prefix.length - b.view.prefix.length).slice(0, MOST_DAEMONS);
  const containerds = asked.filter(({ candidate }) => candidate.kind === 'containerd').map(({ config }) => config);
  const files = await reads.read([
    ...asked.map(({ config }) => ({ path: config.path, follow: true, maxBytes: CONFIG_BYTES })),
    ...containerds.map(config => ({ path: dropInDirectory(config), what: 'dir' as const })),
  ]);
  const imported = await readImports(containerds, files, reads);
  return asked.map(daemon =>
    daemon.candidate.kind === 'dockerd'
      ? dockerd(daemon, files)
      : containerd(daemon, files, imported.get(daemon.config) ?? []),
  );
}

/** A daemon whose command line hangs is one, as far as can be told. */
function isDaemon({ kind }: DaemonCandidate, { argv }: ProcessLinks): boolean {
  return argv === null || kind === 'dockerd' || parseContainerdArgv(argv).daemon;
}

function configOf({ kind }: DaemonCandidate, { argv, cwd }: ProcessLinks): string {
  if (kind === 'dockerd') return absolute(parseDockerdArgv(argv ?? []).configFile ?? DOCKER_DEFAULTS.config, cwd);
  return absolute(parseContainerdArgv(argv ?? []).config ?? CONTAINERD_DEFAULTS.config, cwd);
}

function absolute(path: string, directory: string | null): string {
  return path.startsWith('/') || directory === null ? path : `${directory.replace(/\/$/, '')}/${path}`;
}

function dockerd({ candidate, links, view, config }: Asked, files: ReadFiles): RuntimeDaemon {
  const flags = parseDockerdArgv(links.argv ?? []);
  const file = parseDockerDaemonConfig(textOf(files, config.path) ?? '');
  const place = (path: string) => view.prefix + absolute(path, links.cwd);
  return {
    ...known(candidate, links),
    address: flags.host ?? file?.host ?? DOCKER_DEFAULTS.address,
    root: place(flags.dataRoot ?? file?.dataRoot ?? DOCKER_DEFAULTS.root),
    state: place(flags.execRoot ?? file?.execRoot ?? DOCKER_DEFAULTS.state),
  };
}

function containerd(
  { candidate, links, view, config }: Asked,
  files: ReadFiles,
  imported: readonly ContainerdConfig[],
): RuntimeDaemon {
  const flags = parseContainerdArgv(links.argv ?? []);
  const file = files.get(config.path);
  const own = parseContainerdConfig(textOf(files, config.path) ?? '');
  const parts = [...imported, own];
  const said = (key: 'root' | 'state' | 'address') =>
    flags[key] ?? parts.map(part => part[key]).find(value => value !== null);
  // Of a command line or a file that could not be read, nothing is made up.
  const whole =
    links.argv !== null && (file?.outcome === 'ok' || file?.outcome === 'empty' || file?.outcome === 'gone');
  const place = (path: string | null | undefined) => (path == null ? null : view.prefix + absolute(path, links.cwd));
  return {
    ...known(candidate, links),
    address: said('address') ?? (whole ? CONTAINERD_DEFAULTS.address : null),
    root: place(said('root') ?? (whole ? CONTAINERD_DEFAULTS.root : null)),
    state: place(said('state') ?? (whole ? CONTAINERD_DEFAULTS.state : null)),
  };
}

function known({ kind, pid, startTicks, procState }: DaemonCandidate, { exe, argv }: ProcessLinks) {
  return { kind, pid, startTicks, exe, argv, procState };
}
