import type { Evidence } from '../bundle/evidence.ts';
import type { FileResult } from '../host/port.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing, namesIn } from './evidence-of.ts';
import { type ListedFile, listing } from './listing.ts';
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

/** Where CRI keeps `status` of a container. @param root containerd's */
export function criDirectory(root: string, id: string): string {
  return `${root}/io.containerd.grpc.v1.cri/containers/${id}`;
}

/**
 * First every status, by its name: reading that leaves no trace. Then what else lies beside them, which takes a look into
 * the directories, and is left out where the disk is too busy for that.
 */
export async function* statusesOf(
  capture: Capture,
  containers: readonly { readonly id: string; readonly directory: string }[],
): AsyncGenerator<Evidence> {
  const statuses = await capture.host.readRisky(
    containers.map(({ directory }) => ({ path: `${directory}/${STATUS}`, withStat: true })),
    deadlineOf(capture),
  );
  for (const [index, { id }] of containers.entries()) {
    const status = statuses[index];
    if (status !== undefined) yield evidenceOf(`containers/${id}/status.json`, status, NO_STATUS);
  }
  const directories = await capture.host.readRisky(
    containers.map(({ directory }) => ({ path: directory, what: 'dir', spareBusyDisk: true }) as const),
    deadlineOf(capture),
  );
  const others = directories.map(directory =>
    namesIn(directory).filter(name => !name.endsWith('/') && name !== STATUS),
  );
  const requests = containers.map(({ directory }, index) =>
    (others[index] ?? []).map(name => ({ path: `${directory}/${name}`, what: 'stat' }) as const),
  );
  const files = await capture.host.readRisky(requests.flat(), deadlineOf(capture));
  const readAt = capture.host.now().wall;
  let from = 0;
  for (const [index, { id, directory }] of containers.entries()) {
    const names = others[index] ?? [];
    const own = files.slice(from, from + names.length);
    from += own.length;
    const rows = names.map((name, at) => ({ name, file: own[at] ?? null }));
    yield* statOf(id, directory, readAt, { status: statuses[index], read: directories[index], rows });
  }
}

const STATUS = 'status';

interface Found {
  readonly status: FileResult | undefined;
  /** The directory, as far as it was read. */
  readonly read: FileResult | undefined;
  /** containerd's atomic write leaves `.tmp-status…` beside the status while it waits for the disk. */
  readonly rows: readonly ListedFile[];
}

function* statOf(id: string, directory: string, readAt: string, { status, read, rows }: Found): Generator<Evidence> {
  const own = status === undefined || isMissing(status) ? [] : [{ name: STATUS, file: status }];
  const listed = read === undefined || read.outcome === 'ok' || read.outcome === 'empty' || read.outcome === 'gone';
  const rest = listed ? [] : [{ name: '(what else there is)', file: null, remark: read.detail ?? read.outcome }];
  if (own.length + rows.length === 0) return;
  const entry = { path: `containers/${id}/status.stat`, source: directory };
  // Of what has no times and no neighbours a list would be made of excuses.
  if (!listed && status?.stat === undefined) {
    const { outcome, detail } = status?.outcome === 'timeout' ? status : read;
    yield { ...entry, outcome, body: Buffer.alloc(0), ...(detail === undefined ? {} : { detail }) };
    return;
  }
  const body = listing(directory, readAt, [...own, ...rows, ...rest]);
  // Left alone on purpose is no gap.
  if (listed || read.outcome === 'absent') yield { ...entry, body, outcome: 'ok' };
  else {
    const detail = `what lies beside the status: ${read.detail ?? read.outcome}`;
    yield { ...entry, body, outcome: 'truncated', detail };
  }
}
