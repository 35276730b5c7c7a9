import {
  CONTAINERD_DEFAULTS,
  type ContainerdConfig,
  parseContainerdConfig,
} from '../formats/runtime/containerd-config.ts';
import { parseContainerdArgv, parseDockerdArgv } from '../formats/runtime/daemon-argv.ts';
import { parseDockerDaemonConfig } from '../formats/runtime/docker-daemon-config.ts';
import type { View } from './mount-namespaces.ts';
import type { LinksRead, ProcessLinks } from './process-links.ts';
import { namesOf, type ReadFiles, type Reads, textOf } from './reads.ts';
import type { DaemonCandidate } from './runtime-processes.ts';
import type { RuntimeDaemon } from './types.ts';

interface Asked {
  readonly candidate: DaemonCandidate;
  readonly links: ProcessLinks;
  readonly view: View;
  /** As the daemon sees it. */
  readonly config: string;
}

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
  const asked = candidates.flatMap(candidate => {
    const of = links.of.get(candidate.pid);
    const view = views.get(candidate.pid);
    if (of === undefined || view === undefined || !isDaemon(candidate, of)) return [];
    return [{ candidate, links: of, view, config: configOf(candidate, of) }];
  });
  const files = await reads.read(asked.map(({ view, config }) => ({ path: view.prefix + config, follow: true })));
  const imported = await readImports(asked, files, reads);
  return asked.map(daemon =>
    daemon.candidate.kind === 'dockerd' ? dockerd(daemon, files) : containerd(daemon, files, imported),
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
  const file = parseDockerDaemonConfig(textOf(files, view.prefix + config) ?? '');
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
  imported: ImportedConfigs,
): RuntimeDaemon {
  const flags = parseContainerdArgv(links.argv ?? []);
  const file = files.get(view.prefix + config);
  const own = parseContainerdConfig(textOf(files, view.prefix + config) ?? '');
  const parts = [...(imported.get(candidate.pid) ?? []), own];
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

/** What the imported files of a containerd say, the last one first: it wins. */
type ImportedConfigs = ReadonlyMap<number, readonly ContainerdConfig[]>;

/** One level of imports, which is what distributions use: a drop-in directory. Two calls, or none. */
async function readImports(asked: readonly Asked[], files: ReadFiles, reads: Reads): Promise<ImportedConfigs> {
  const patterns = asked
    .filter(({ candidate }) => candidate.kind === 'containerd')
    .flatMap(({ candidate, view, config }) => {
      const { imports } = parseContainerdConfig(textOf(files, view.prefix + config) ?? '');
      const directory = config.slice(0, config.lastIndexOf('/'));
      const written = imports.length > 0 ? imports : [CONTAINERD_DEFAULTS.dropIns];
      return written.map(pattern => ({ pid: candidate.pid, pattern: view.prefix + absolute(pattern, directory) }));
    });
  const directories = await reads.read(
    patterns
      .filter(({ pattern }) => isGlob(pattern))
      .map(({ pattern }) => ({ path: directoryOf(pattern), what: 'dir' })),
  );
  const paths = patterns.flatMap(({ pid, pattern }) => {
    if (!isGlob(pattern)) return [{ pid, path: pattern }];
    const names = namesOf(directories, directoryOf(pattern)).filter(name => globOf(pattern).test(name));
    return names.sort().map(name => ({ pid, path: `${directoryOf(pattern)}/${name}` }));
  });
  const read = await reads.read(paths.map(({ path }) => ({ path, follow: true })));
  const imported = new Map<number, ContainerdConfig[]>();
  for (const { pid, path } of paths) {
    const config = parseContainerdConfig(textOf(read, path) ?? '');
    imported.set(pid, [config, ...(imported.get(pid) ?? [])]);
  }
  return imported;
}

function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern.slice(pattern.lastIndexOf('/')));
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

/** filepath.Glob for the last component: `*` and `?`. */
function globOf(pattern: string): RegExp {
  const name = pattern.slice(pattern.lastIndexOf('/') + 1).replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${name.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`);
}
