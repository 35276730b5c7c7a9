import { readFlags } from './flags.ts';

/** containerd's own flags: cmd/containerd/command/main.go. Paths as written, relative ones to its working directory. */
export interface ContainerdArgv {
  /** False for `containerd config dump`, `containerd publish` and the like: same name, no daemon. */
  readonly daemon: boolean;
  readonly config: string | null;
  readonly root: string | null;
  readonly state: string | null;
  readonly address: string | null;
}

const CONTAINERD_BOOLEANS: ReadonlySet<string> = new Set(['help', 'h', 'version', 'v']);

/** `argv` with the program's name. */
export function parseContainerdArgv(argv: readonly string[]): ContainerdArgv {
  const { values, positional } = readFlags(argv.slice(1), CONTAINERD_BOOLEANS);
  const text = (...names: string[]) => names.map(name => values.get(name)).find(Boolean) ?? null;
  return {
    daemon: positional.length === 0,
    config: text('config', 'c'),
    root: text('root'),
    state: text('state'),
    address: text('address', 'a'),
  };
}

/** dockerd's own flags: moby cmd/dockerd/config.go, config_unix.go. */
export interface DockerdArgv {
  readonly configFile: string | null;
  readonly dataRoot: string | null;
  readonly execRoot: string | null;
  /** The API's address, `-H`. */
  readonly host: string | null;
}

/** Those that are seen on nodes without a value and could stand before something that is no flag. */
const DOCKERD_BOOLEANS: ReadonlySet<string> = new Set(['debug', 'D', 'help', 'validate', 'version', 'v', 'ipv6']);

/** `argv` with the program's name. */
export function parseDockerdArgv(argv: readonly string[]): DockerdArgv {
  const { values } = readFlags(argv.slice(1), DOCKERD_BOOLEANS);
  const text = (...names: string[]) => names.map(name => values.get(name)).find(Boolean) ?? null;
  return {
    configFile: text('config-file'),
    dataRoot: text('data-root', 'graph', 'g'),
    execRoot: text('exec-root'),
    host: text('host', 'H'),
  };
}
