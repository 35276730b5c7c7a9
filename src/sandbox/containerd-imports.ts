import {
  CONTAINERD_DEFAULTS,
  type ContainerdConfig,
  parseContainerdConfig,
} from '../formats/runtime/containerd-config.ts';
import { namesOf, type ReadFiles, type Reads, textOf } from './reads.ts';

/** A configuration file that was read, as we can open it. */
export interface ConfigFile {
  readonly path: string;
  /** Of the daemon's view. */
  readonly prefix: string;
}

/** Where 2.x looks by itself: to be listed together with the configuration. */
export function dropInDirectory({ prefix }: ConfigFile): string {
  return prefix + directoryOf(CONTAINERD_DEFAULTS.dropIns);
}

/**
 * What the files that a configuration imports say, the last one first: it wins. One level, which is what distributions use:
 * a drop-in directory. `files` holds the configurations and their `dropInDirectory`; no call where nothing is imported.
 */
export async function readImports(
  configs: readonly ConfigFile[],
  files: ReadFiles,
  reads: Reads,
): Promise<ReadonlyMap<ConfigFile, readonly ContainerdConfig[]>> {
  const patterns = configs.flatMap(config => importsOf(config, files).map(pattern => ({ config, pattern })));
  const globs = patterns.map(({ pattern }) => pattern).filter(isGlob);
  const unlisted = globs.map(directoryOf).filter(directory => !files.has(directory));
  const listed = new Map([...files, ...(await reads.read(unlisted.map(path => ({ path, what: 'dir' }))))]);
  const paths = patterns.flatMap(({ config, pattern }) => expand(pattern, listed).map(path => ({ config, path })));
  const read = await reads.read(paths.map(({ path }) => ({ path, follow: true })));
  const imported = new Map<ConfigFile, ContainerdConfig[]>();
  for (const { config, path } of paths) {
    const said = parseContainerdConfig(textOf(read, path) ?? '');
    imported.set(config, [said, ...(imported.get(config) ?? [])]);
  }
  return imported;
}

/** Absolute, as we can open them. */
function importsOf({ path, prefix }: ConfigFile, files: ReadFiles): readonly string[] {
  const { imports } = parseContainerdConfig(textOf(files, path) ?? '');
  const written = imports.length > 0 ? imports : [CONTAINERD_DEFAULTS.dropIns];
  return written.map(pattern => (pattern.startsWith('/') ? prefix + pattern : `${directoryOf(path)}/${pattern}`));
}

function expand(pattern: string, listed: ReadFiles): readonly string[] {
  if (!isGlob(pattern)) return [pattern];
  const directory = directoryOf(pattern);
  const glob = globOf(pattern.slice(directory.length + 1));
  return namesOf(listed, directory)
    .filter(name => glob.test(name))
    .sort()
    .map(name => `${directory}/${name}`);
}

function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern.slice(pattern.lastIndexOf('/') + 1));
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** filepath.Glob for the last component: `*` and `?`. */
function globOf(name: string): RegExp {
  const literal = name.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}
