import type { Evidence } from '../bundle/evidence.ts';
import type { FileRequest, FileResult } from '../host/port.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing, namesIn } from './evidence-of.ts';
import { listing } from './listing.ts';
import { rootOf } from './runtime-places.ts';

const NO_STATUS = 'the CRI store has no status of this container: it was removed, or was not made through CRI';

/**
 * What CRI believes, from disk, containerd not asked: <root>/io.containerd.grpc.v1.cri/containers/<id>/status (the same
 * path in containerd 2.x), and when it was written. A status that says running long after the process ended, and a
 * temporary file beside it, are the classic evidence. Sandboxes have no such file: their state lives in meta.db.
 */
export const criStatus: Collector = {
  name: 'cri-status',
  phase: 'files',
  deadlineMs: 4000,
  targets: ['sandbox'],
  async *collect(capture) {
    if (capture.target.kind !== 'sandbox' || capture.target.sandbox.runtime !== 'containerd') return;
    const containers = capture.target.sandbox.containers.filter(({ kind }) => kind === 'container');
    yield* statusesOf(
      capture,
      containers.map(container => ({
        id: container.id,
        directory: criDirectory(rootOf(capture, container), container.id),
      })),
    );
  },
};

export function criDirectory(root: string, id: string): string {
  return `${root}/io.containerd.grpc.v1.cri/containers/${id}`;
}

/** Two requests for all of them: the directories, then every file in them. */
export async function* statusesOf(
  capture: Capture,
  containers: readonly { readonly id: string; readonly directory: string }[],
): AsyncGenerator<Evidence> {
  const directories = await capture.host.readRisky(
    containers.map(({ directory }) => ({ path: directory, what: 'dir' }) as const),
    deadlineOf(capture),
  );
  const names = directories.map(directory => namesIn(directory).filter(name => !name.endsWith('/')));
  const requests = containers.map(({ directory }, index) =>
    (names[index] ?? []).map(name => requestFor(directory, name)),
  );
  const files = await capture.host.readRisky(requests.flat(), deadlineOf(capture));
  const readAt = capture.host.now().wall;
  let from = 0;
  for (const [index, { id, directory }] of containers.entries()) {
    const own = files.slice(from, from + (requests[index]?.length ?? 0));
    from += own.length;
    const read = directories[index];
    if (read !== undefined) yield* statusOf(id, directory, readAt, read, names[index] ?? [], own);
  }
}

/** `status` is small; containerd's atomic write leaves `.tmp-status…` beside it while it waits for the disk. */
function requestFor(directory: string, name: string): FileRequest {
  return { path: `${directory}/${name}`, what: name === 'status' ? 'body' : 'stat', withStat: true };
}

function* statusOf(
  id: string,
  directory: string,
  readAt: string,
  read: FileResult,
  names: readonly string[],
  files: readonly FileResult[],
): Generator<Evidence> {
  const status = files[names.indexOf('status')];
  if (status === undefined) {
    const there = read.outcome === 'ok' || read.outcome === 'empty';
    yield evidenceOf(`containers/${id}/status.json`, there ? { ...read, outcome: 'absent' } : read, NO_STATUS);
  } else {
    yield evidenceOf(`containers/${id}/status.json`, status);
  }
  if (isMissing(read) || names.length === 0) return;
  const rows = names.map((name, index) => ({ name, file: files[index] ?? null }));
  const body = listing(directory, readAt, rows);
  yield { path: `containers/${id}/status.stat`, source: directory, outcome: 'ok', body };
}
