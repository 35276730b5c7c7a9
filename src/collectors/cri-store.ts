import type { Capture, Collector } from './collector.ts';
import { concatenate } from './concatenate.ts';
import { criDirectory } from './cri-status.ts';
import { deadlineOf, evidenceOf, namesIn } from './evidence-of.ts';
import { listing } from './listing.ts';
import { rootsOf } from './runtime-places.ts';

/** The kubelet keeps some dead containers of each pod; a node with 300 pods has several hundred. */
const MAX_STATUSES = 1000;

/**
 * The other statuses in the CRI store: of containers that no bundle directory belongs to any more. One among them that
 * still says running is a container whose end containerd has seen and could not write down. Which pod it was of, only
 * meta.db knows. For a node, all of them.
 */
export const criStore: Collector = {
  name: 'cri-store',
  phase: 'files',
  deadlineMs: 4000,
  targets: ['sandbox', 'node'],
  async *collect(capture) {
    if (capture.target.kind === 'sandbox' && capture.target.sandbox.runtime !== 'containerd') return;
    const stores = rootsOf(capture).map(root => criDirectory(root, '').slice(0, -1));
    const directories = await capture.host.readRisky(
      stores.map(store => ({ path: store, what: 'dir', spareBusyDisk: true }) as const),
      deadlineOf(capture),
    );
    const known = knownTo(capture);
    const ids = directories.flatMap(directory =>
      namesIn(directory).flatMap(name => {
        const id = name.replace(/\/$/, '');
        return id === name || known.has(id) ? [] : [{ id, path: `${directory.path}/${id}/status` }];
      }),
    );
    const files = await capture.host.readRisky(
      ids.slice(0, MAX_STATUSES).map(({ path }) => ({ path, withStat: true })),
      deadlineOf(capture),
    );
    const source = stores.join(' ');
    const unread = directories.find(({ outcome }) => outcome !== 'ok' && outcome !== 'empty');
    if (files.length === 0 && unread !== undefined) {
      const why = unread.outcome === 'absent' ? unread.detail : 'this containerd has no CRI store';
      yield { ...evidenceOf('node/cri-store.txt', unread, why), source };
      return;
    }
    const evidence = concatenate('node/cri-store.txt', source, files);
    const detail = files.length === 0 ? 'every status in the store is that of a known container' : evidence.detail;
    const leftOut = ids.length - files.length;
    if (leftOut > 0) yield { ...evidence, outcome: 'truncated', detail: `${leftOut} statuses more were not read` };
    else yield { ...evidence, ...(detail === undefined ? {} : { detail }) };
    const rows = files.map((file, index) => ({ name: `${ids[index]?.id}/status`, file }));
    const body = listing(source, capture.host.now().wall, rows);
    if (rows.length > 0) yield { path: 'node/cri-store.stat', source, outcome: 'ok', body };
  },
};

/** Containers of the node that have a bundle; for a node none is left out. */
function knownTo(capture: Capture): ReadonlySet<string> {
  if (capture.target.kind === 'node') return new Set();
  return new Set(capture.inventory.sandboxes.flatMap(({ containers }) => containers.map(({ id }) => id)));
}
