import { parseCriStatus } from '../formats/runtime/cri-status.ts';
import { parseDockerContainer } from '../formats/runtime/docker-container.ts';
import type { View } from '../formats/views/view.ts';
import type { FileResult, Host } from '../host/port.ts';
import { namesOf, type Reads } from './reads.ts';
import type { Inventory } from './types.ts';
import { timeOfNs, wallTime } from './wall-time.ts';

/** What a runtime wrote down about one container. */
export interface StatusFile {
  readonly containerId: string;
  readonly by: 'CRI' | 'docker';
  readonly path: string;
  /** When it was read, ms since the start of the process. */
  readonly offsetMs: number;
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
    return file === undefined ? [] : (statusFileOf(by, id, file) ?? []);
  });
}

/** The same files once more; those that are gone by now are left out. */
export async function rereadStatusFiles(files: readonly StatusFile[], reads: Reads): Promise<readonly StatusFile[]> {
  const read = await reads.read(
    files.map(({ path }) => ({ path, withStat: true })),
    { itemMs: TRY_MS },
  );
  return files.flatMap(({ by, containerId, path }) => {
    const file = read.get(path);
    return file === undefined ? [] : (statusFileOf(by, containerId, file) ?? []);
  });
}

/** Same place in containerd 1.x and 2.x. */
export function criStores({ sandboxes, daemons }: Pick<Inventory, 'sandboxes' | 'daemons'>): readonly string[] {
  const roots = [
    ...sandboxes.flatMap(({ shims }) => shims.map(({ root }) => root)),
    ...daemons.flatMap(({ kind, root }) => (kind === 'containerd' ? [root] : [])),
  ].filter(root => root !== null);
  return [...new Set(roots)].map(root => `${root}/io.containerd.grpc.v1.cri/containers`);
}

/** Directories with one for each container, in which config.v2.json lies. */
export function dockerStores({ sandboxes, daemons }: Pick<Inventory, 'sandboxes' | 'daemons'>): readonly string[] {
  const roots = daemons.flatMap(({ kind, root }) => (kind === 'dockerd' && root !== null ? [root] : []));
  if (roots.length === 0 && sandboxes.some(({ runtime }) => runtime === 'docker')) roots.push(DOCKER_ROOT);
  return [...new Set(roots)].map(root => `${root}/containers`);
}

/** Null for one that was not read, or is none. */
export function statusFileOf(
  by: StatusFile['by'],
  containerId: string,
  { path, outcome, body, stat, offsetMs }: FileResult,
): StatusFile | null {
  if (outcome !== 'ok') return null;
  const text = body.toString('utf8');
  const known = { containerId, by, path, offsetMs, mtimeNs: stat?.mtimeNs ?? null };
  if (by === 'docker') {
    const record = parseDockerContainer(text);
    return record && { ...known, says: record.running ? 'running' : 'exited', pid: record.pid };
  }
  const status = parseCriStatus(text);
  const says = { CREATED: 'created', RUNNING: 'running', EXITED: 'exited' } as const;
  return status && { ...known, says: says[status.state], pid: status.pid };
}

/** As one view among others. */
export function viewOfStatusFile(
  { by, says, pid, offsetMs, mtimeNs }: StatusFile,
  host: Pick<Host, 'startedAt'>,
): View {
  const source = by === 'CRI' ? 'CRI status file' : 'config.v2.json';
  return { source, says, word: says, at: wallTime(host, offsetMs), tookMs: null, pid, since: timeOfNs(mtimeNs) };
}
