import { parseObject, stringAt, stringsAt } from './json.ts';

/** /etc/docker/daemon.json, as far as it says where things lie: moby daemon/config/config.go. */
export interface DockerDaemonConfig {
  readonly dataRoot: string | null;
  readonly execRoot: string | null;
  readonly host: string | null;
}

/** Null when the text is no JSON object. */
export function parseDockerDaemonConfig(text: string): DockerDaemonConfig | null {
  const config = parseObject(text);
  if (config === null) return null;
  return {
    dataRoot: stringAt(config, 'data-root') ?? stringAt(config, 'graph'),
    execRoot: stringAt(config, 'exec-root'),
    host: stringsAt(config, 'hosts')[0] ?? null,
  };
}
