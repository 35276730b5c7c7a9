import { parseToml } from './toml.ts';

/**
 * Where a containerd keeps its things, from one file of its configuration: containerd cmd/containerd/server/config.
 * Null where the file does not say.
 */
export interface ContainerdConfig {
  readonly root: string | null;
  readonly state: string | null;
  readonly address: string | null;
  /** Files and globs, relative ones to this file's directory; what they say wins over this file. */
  readonly imports: readonly string[];
}

/** Of containerd itself: defaults/defaults_unix.go. A flag wins over the file, the file over these. */
export const CONTAINERD_DEFAULTS = {
  config: '/etc/containerd/config.toml',
  root: '/var/lib/containerd',
  state: '/run/containerd',
  address: '/run/containerd/containerd.sock',
  /** Read since 2.x also where no file imports it: DefaultConfigIncludePattern. */
  dropIns: '/etc/containerd/conf.d/*.toml',
} as const;

/** The address: `[grpc]` up to version 3, the server plugin's section in version 4 (containerd 2.3). */
const ADDRESS = ['plugins.io.containerd.server.v1.grpc.address', 'grpc.address'] as const;

/** Never throws: of a file with a fault in it, what stands before the fault. */
export function parseContainerdConfig(text: string): ContainerdConfig {
  const { values } = parseToml(text);
  const string = (key: string) => {
    const value = values.get(key);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const imports = values.get('imports');
  return {
    root: string('root'),
    state: string('state'),
    address: ADDRESS.map(string).find(value => value !== null) ?? null,
    imports: typeof imports === 'object' ? imports : [],
  };
}
