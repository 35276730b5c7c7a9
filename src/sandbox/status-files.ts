import { parseCriStatus } from '../formats/runtime/cri-status.ts';
import { parseDockerContainer } from '../formats/runtime/docker-container.ts';
import type { FileResult } from '../host/port.ts';
import { namesOf, type Reads } from './reads.ts';
import type { Inventory } from './types.ts';

/** What a runtime wrote down about one container. */
export interface StatusFile {
  readonly containerId: string;
  readonly by: 'CRI' | 'docker';
  readonly path: string;
  readonly says: 'created' | 'running' | 'exited';
  /** The init's, as the runtime had it. */
  readonly pid: number | null;
  /** When it was written, ns since 1970, decimal; null where that is not known. */
  readonly mtimeNs: string | null;
}

/** docker's own default, for a node whose dockerd is dead. */
const DOCKER_ROOT = '/var/lib/docker';

/** On the disk that may be the stalled one: the first file is tried before all others are asked for. */
const TRY_MS = 500;

/** Every status file of the node: of containers with a shim, and of those that lost theirs. */
export async function readStatusFiles(inventory: Inventory, reads: Reads): Promise<readonly StatusFile[]> {
  const stores = [
    ...criStores(inventory).map(directory => ({ by: 'CRI' as const, directory, file: 'status' })),
    ...dockerStores(inventory).map(directory => ({ by: 'docker' as const, directory, file: 'config.v2.json' })),
  ];
  const listed = await reads.read(
    stores.map(({ directory }) => ({ path: directory, what: 'dir' })),
    { itemMs: TRY_MS },
  );
  const wanted = stores.flatMap(({ by, directory, file }) =>
    namesOf(listed, directory).map(id => ({ by, id, path: `${directory}/${id}/${file}` })),
  );
  const requests = wanted.map(({ path }) => ({ path, withStat: true }));
  const first = await reads.read(requests.slice(0, 1), { itemMs: TRY_MS });
  const rest = await reads.read(requests.slice(1), { itemMs: TRY_MS });
  return wanted.flatMap(({ by, id, path }) => {
    const file = first.get(path) ?? rest.get(path);
    return file?.outcome === 'ok' ? statusIn(by, id, file) : [];
  });
}

export async function rereadStatusFiles(files: readonly StatusFile[], reads: Reads): Promise<readonly StatusFile[]> {
  const read = await reads.read(
    files.map(({ path }) => ({ path, withStat: true })),
    { itemMs: TRY_MS },
  );
  return files.flatMap(({ by, containerId, path }) => {
    const file = read.get(path);
    return file?.outcome === 'ok' ? statusIn(by, containerId, file) : [];
  });
}

/** Same place in containerd 1.x and 2.x. */
function criStores({ sandboxes, daemons }: Inventory): readonly string[] {
  const roots = [
    ...sandboxes.flatMap(({ shims }) => shims.map(({ root }) => root)),
    ...daemons.flatMap(({ kind, root }) => (kind === 'containerd' ? [root] : [])),
  ].filter(root => root !== null);
  return [...new Set(roots)].map(root => `${root}/io.containerd.grpc.v1.cri/containers`);
}

function dockerStores({ sandboxes, daemons }: Inventory): readonly string[] {
  const roots = daemons.flatMap(({ kind, root }) => (kind === 'dockerd' && root !== null ? [root] : []));
  if (roots.length === 0 && sandboxes.some(({ runtime }) => runtime === 'docker')) roots.push(DOCKER_ROOT);
  return [...new Set(roots)].map(root => `${root}/containers`);
}

function statusIn(by: StatusFile['by'], containerId: string, { path, body, stat }: FileResult): readonly StatusFile[] {
  const text = body.toString('utf8');
  const known = { containerId, by, path, mtimeNs: stat?.mtimeNs ?? null };
  if (by === 'docker') {
    const record = parseDockerContainer(text);
    return record === null ? [] : [{ ...known, says: record.running ? 'running' : 'exited', pid: record.pid }];
  }
  const status = parseCriStatus(text);
  const says = { CREATED: 'created', RUNNING: 'running', EXITED: 'exited' } as const;
  return status === null ? [] : [{ ...known, says: says[status.state], pid: status.pid }];
}
