import type { Evidence } from '../bundle/evidence.ts';
import type { FileRequest } from '../host/port.ts';
import type { Container } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, entryPart, evidenceOf, namesIn } from './evidence-of.ts';
import { type ListedFile, listing } from './listing.ts';
import { withoutEnvValues } from './without-env-values.ts';

/** Files of a bundle directory, over all versions: containerd's runtime/v2 bundle.go, its shims, and v1's shim.pid. */
const READ = new Set([
  'address',
  'bootstrap.json',
  'config.json',
  'init.pid',
  'log.json',
  'options.json',
  'runtime',
  'sandbox',
  'shim-binary-path',
  'shim.pid',
]);

/** `work` leads into containerd's root, `s` (2.3.0) to the directory of sockets. */
const LINKS = new Set(['work', 's']);

/** There are a dozen, and one for each exec that runs: a pod whose exec probes hang has hundreds. */
const MOST_FILES = 400;

/** The container's mount point: even lstat waits when a FUSE or NFS server behind it does not answer. */
const NEVER_TOUCHED = 'rootfs';

/** What containerd and the shim wrote down about each container of the target, and when. The log fifo is not opened. */
export const bundleDirectories: Collector = {
  name: 'bundle-directories',
  phase: 'files',
  deadlineMs: 4000,
  targets: ['sandbox'],
  async *collect(capture) {
    if (capture.target.kind === 'sandbox') yield* bundlesOf(capture, capture.target.sandbox.containers);
  },
};

type Bundled = Pick<Container, 'id' | 'bundle'>;

/** `containers/<id>/bundle.txt` and `containers/<id>/bundle/…` of each. */
export async function* bundlesOf(capture: Capture, containers: readonly Bundled[]): AsyncGenerator<Evidence> {
  const directories = await capture.host.readRisky(
    containers.map(({ bundle }) => ({ path: bundle, what: 'dir' }) as const),
    deadlineOf(capture),
  );
  for (const [index, container] of containers.entries()) {
    const directory = directories[index];
    if (directory === undefined) continue;
    if (directory.outcome === 'ok' || directory.outcome === 'empty')
      yield* bundleOf(capture, container, namesIn(directory));
    else yield evidenceOf(`containers/${container.id}/bundle.txt`, directory, deletedBefore(capture, container));
  }
}

async function* bundleOf(capture: Capture, container: Bundled, names: readonly string[]): AsyncGenerator<Evidence> {
  const present = names.filter(name => bare(name) !== NEVER_TOUCHED);
  // What every bundle has comes before what an exec leaves.
  const listed = present.toSorted((a, b) => Number(READ.has(b)) - Number(READ.has(a))).slice(0, MOST_FILES);
  const files = await capture.host.readRisky(
    listed.map(name => requestFor(`${container.bundle}/${bare(name)}`, bare(name))),
    deadlineOf(capture),
  );
  const rows = listed.map((name, index): ListedFile => {
    const file = files[index] ?? null;
    const target = LINKS.has(bare(name)) && file?.outcome === 'ok' ? { target: file.body.toString('utf8') } : {};
    return { name: bare(name), file, ...target };
  });
  const left =
    names.length > present.length ? [{ name: NEVER_TOUCHED, file: null, remark: 'not looked at: a mount' }] : [];
  yield {
    path: `containers/${container.id}/bundle.txt`,
    source: container.bundle,
    body: listing(container.bundle, capture.host.now().wall, [...rows, ...left]),
    ...(listed.length === present.length
      ? { outcome: 'ok' as const }
      : { outcome: 'truncated' as const, detail: `the first ${listed.length} of ${present.length} names` }),
  };
  for (const [index, name] of listed.entries()) {
    const file = files[index];
    if (file === undefined || !isRead(name)) continue;
    const evidence = evidenceOf(`containers/${container.id}/bundle/${entryPart(name)}`, file);
    yield name === 'config.json' ? withoutEnvValues(evidence) : evidence;
  }
}

function requestFor(path: string, name: string): FileRequest {
  if (LINKS.has(name)) return { path, what: 'link', withStat: true };
  return { path, what: isRead(name) ? 'body' : 'stat', withStat: true };
}

/** `<exec id>.pid`: the pid of a running exec. */
function isRead(name: string): boolean {
  return READ.has(name) || name.endsWith('.pid');
}

function bare(name: string): string {
  return name.endsWith('/') ? name.slice(0, -1) : name;
}

/** Known before the capture began, so nothing was lost by it. */
function deletedBefore(capture: Capture, container: Bundled): string | undefined {
  const shim = capture.shims.find(({ bundle, bundleDeleted }) => bundleDeleted && bundle === container.bundle);
  return shim === undefined ? undefined : 'containerd deleted this directory under the living shim';
}
