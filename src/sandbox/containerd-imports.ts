import {
  CONTAINERD_DEFAULTS,
  type ContainerdConfig,
  parseContainerdConfig,
} from '../formats/runtime/containerd-config.ts';
import { namesOf, type ReadFiles, type Reads, textOf } from './reads.ts';

/** All that containerd knows takes 10 kB to write down. */
export const CONFIG_BYTES = 256 << 10;
const MOST_FILES = 100;
const MOST_PATTERNS = 20;

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
  const paths = patterns
    .flatMap(({ config, pattern }) => expand(pattern, listed).map(path => ({ config, path })))
    .slice(0, MOST_FILES);
  const read = await reads.read(paths.map(({ path }) => ({ path, follow: true, maxBytes: CONFIG_BYTES })));
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
  const written = imports.length > 0 ? imports.slice(0, MOST_PATTERNS) : [CONTAINERD_DEFAULTS.dropIns];
  return written.map(pattern => (pattern.startsWith('/') ? prefix + pattern : `${directoryOf(path)}/${pattern}`));
}

function expand(pattern: string, listed: ReadFiles): readonly string[] {
  if (!isGlob(pattern)) return [pattern];
  const directory = directoryOf(pattern);
  const glob = pattern.slice(directory.length + 1);
  return namesOf(listed, directory)
    .filter(name => matchesGlob(name, glob))
    .sort()
    .map(name => `${directory}/${name}`);
}

function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern.slice(pattern.lastIndexOf('/') + 1));
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/**
 * filepath.Match of one name: `*` and `?`. Any process may call itself containerd and have a configuration: a regular expression
 * takes time by the power of its stars, this by the product of the lengths.
 */
export function matchesGlob(name: string, glob: string): boolean {
  let [at, of] = [0, 0];
  let star: { readonly of: number; at: number } | null = null;
  while (at < name.length) {
    if (glob[of] === '*') {
      star = { of, at };
      of += 1;
    } else if (glob[of] === '?' || glob[of] === name[at]) {
      at += 1;
      of += 1;
    } else if (star !== null) {
      // The last star takes one letter more; those before it need not.
      star.at += 1;
      at = star.at;
      of = star.of + 1;
    } else return false;
  }
  return /^\**$/.test(glob.slice(of));
}
