import { type DockerContainer, parseDockerContainer } from '../formats/runtime/docker-container.ts';
import type { Bundle } from './bundles.ts';
import { type Reads, textOf } from './reads.ts';
import type { RuntimeDaemon } from './types.ts';

/** Namespace of docker's containers, unless dockerd was told another one. */
const MOBY = 'moby';

/** docker's own default. */
const DATA_ROOT = '/var/lib/docker';

/** These lie on a disk that may be the stalled one: one file is tried before the others are asked for. */
const TRY_MS = 400;
const ALL_MS = 1500;

/** A container of dockerd's, by its record or by containerd's namespace. */
export function isDocker(bundle: Bundle): boolean {
  return bundle.docker !== null || bundle.place.namespace === MOBY;
}

/** dockerd's record of each docker container, by path of its bundle; nothing of those that did not answer. */
export async function readDockerRecords(
  bundles: readonly Bundle[],
  daemons: readonly RuntimeDaemon[],
  reads: Reads,
): Promise<ReadonlyMap<string, DockerContainer>> {
  const wanted = bundles.filter(isDocker).map(bundle => ({ bundle, paths: pathsOf(bundle, daemons) }));
  const requests = wanted.flatMap(({ paths }) => paths.map(path => ({ path })));
  const bounds = { itemMs: TRY_MS, withinMs: ALL_MS };
  const first = await reads.read(requests.slice(0, 1), bounds);
  const hangs = [...first.values()].some(({ outcome }) => outcome === 'timeout');
  const rest = hangs ? new Map() : await reads.read(requests.slice(1), bounds);
  const files = new Map([...first, ...rest]);
  const records = new Map<string, DockerContainer>();
  for (const { bundle, paths } of wanted) {
    const record = paths
      .map(path => parseDockerContainer(textOf(files, path) ?? ''))
      .find(found => found?.id === bundle.id);
    if (record) records.set(bundle.path, record);
  }
  return records;
}

function pathsOf({ docker, id, place }: Bundle, daemons: readonly RuntimeDaemon[]): readonly string[] {
  const told = docker === null ? [] : [place.view.prefix + docker.dataRoot];
  const known = daemons.flatMap(({ kind, root }) => (kind === 'dockerd' && root !== null ? [root] : []));
  const roots = [...told, ...(told.length > 0 ? [] : known), ...(told.length + known.length > 0 ? [] : [DATA_ROOT])];
  return roots.map(root => `${root}/containers/${id}/config.v2.json`);
}
