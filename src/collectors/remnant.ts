import type { Evidence } from '../bundle/evidence.ts';
import type { FileResult } from '../host/port.ts';
import type { Remnant } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { statusesOf } from './cri-status.ts';
import { deadlineOf, entryPart, evidenceOf, namesIn } from './evidence-of.ts';
import { type ListedFile, listing } from './listing.ts';
import { fromLineStart } from './logs/window.ts';

const LOG_TAIL_BYTES = 256 * 1024;
/** Newest log of each container, and the one before it. */
const LOGS_PER_CONTAINER = 2;
/** `volumes/<plugin>/<name>` and below are mounts: their names are read, they themselves are not touched. */
const KUBELET_LEVELS = 3;
const CRI_CONTAINER = /^(.*)\/io\.containerd\.grpc\.v1\.cri\/containers\/([0-9a-f]+)$/;

/**
 * What is left of a pod that has no shim: its logs, the kubelet's directory of it, CRI's status files, and mounts that
 * nobody has taken away.
 */
export const remnant: Collector = {
  name: 'remnant',
  phase: 'files',
  deadlineMs: 6000,
  targets: ['remnant'],
  async *collect(capture) {
    if (capture.target.kind !== 'remnant') return;
    const { remnant: remains } = capture.target;
    for (const path of remains.paths.filter(isPodLogs)) yield* podLogs(capture, path);
    for (const path of remains.paths.filter(isKubeletPod)) yield await kubeletPod(capture, path);
    const containers = remains.paths.flatMap(path => {
      const id = CRI_CONTAINER.exec(path)?.[2];
      return id === undefined ? [] : [{ id, directory: path }];
    });
    yield* statusesOf(capture, containers);
    yield await mountsLeft(capture, remains);
  },
};

function isPodLogs(path: string): boolean {
  return path.startsWith('/var/log/pods/') || /\/pods\/[^/]+_[^/]+_[^/]+$/.test(path);
}

function isKubeletPod(path: string): boolean {
  return !isPodLogs(path) && /\/pods\/[^/]+$/.test(path);
}

/** /var/log/pods/<namespace>_<name>_<uid>/<container>/<restarts>.log (kubelet, kuberuntime). Links (docker's) are not followed. */
async function* podLogs(capture: Capture, path: string): AsyncGenerator<Evidence> {
  const [root] = await capture.host.readRisky([{ path, what: 'dir' }], deadlineOf(capture));
  const containers = root === undefined ? [] : namesIn(root).filter(name => name.endsWith('/'));
  const directories = await capture.host.readRisky(
    containers.map(name => ({ path: `${path}/${name.slice(0, -1)}`, what: 'dir' }) as const),
    deadlineOf(capture),
  );
  const logs = directories.flatMap((directory, index) =>
    namesIn(directory).map(name => ({ container: containers[index]?.slice(0, -1) ?? '', name })),
  );
  const stats = await capture.host.readRisky(
    logs.map(({ container, name }) => ({ path: `${path}/${container}/${name}`, what: 'stat' }) as const),
    deadlineOf(capture),
  );
  const rows = logs.map(
    ({ container, name }, index): ListedFile => ({ name: `${container}/${name}`, file: stats[index] ?? null }),
  );
  const body = listing(path, capture.host.now().wall, rows);
  yield { path: 'remnant/pod-logs.txt', source: path, outcome: 'ok', body };
  const known = logs
    .map((log, index) => ({ ...log, file: stats[index] }))
    .filter(({ file }) => file?.stat?.type === 'file');
  for (const directory of new Set(known.map(({ container }) => container))) {
    const newest = known
      .filter(({ container }) => container === directory)
      .toSorted((a, b) => (BigInt(a.file?.stat?.mtimeNs ?? 0) < BigInt(b.file?.stat?.mtimeNs ?? 0) ? 1 : -1))
      .slice(0, LOGS_PER_CONTAINER);
    const files = await capture.host.readRisky(
      newest.map(({ name }) => ({ path: `${path}/${directory}/${name}`, maxBytes: LOG_TAIL_BYTES, keep: 'tail' })),
      deadlineOf(capture),
    );
    for (const [index, file] of files.entries())
      yield evidenceOf(`logs/pods/${entryPart(directory)}/${entryPart(newest[index]?.name ?? '')}`, asked(file));
  }
}

/** That only the end of a log was read is what was asked for. */
function asked(file: FileResult): FileResult {
  const tail = file.outcome === 'truncated' && file.body.length > 0;
  return tail ? { ...file, outcome: 'ok', body: fromLineStart(file.body) } : file;
}

/** Names alone: /var/lib/kubelet/pods/<uid>/{containers,plugins,volumes}/…, where a left mount keeps a pod Terminating. */
async function kubeletPod(capture: Capture, path: string): Promise<Evidence> {
  const lines = [`# names below ${path}, mounts not entered`];
  let level = [path];
  for (let depth = 0; depth < KUBELET_LEVELS && level.length > 0; depth += 1) {
    const listings = await capture.host.readRisky(
      level.map(directory => ({ path: directory, what: 'dir' }) as const),
      deadlineOf(capture),
    );
    const next: string[] = [];
    for (const [index, read] of listings.entries()) {
      if (read.outcome !== 'ok' && read.outcome !== 'empty') lines.push(`${level[index]}/ (${read.outcome})`);
      for (const name of namesIn(read)) {
        lines.push(`${level[index]}/${name}`);
        if (name.endsWith('/')) next.push(`${level[index]}/${name.slice(0, -1)}`);
      }
    }
    level = next;
  }
  const body = Buffer.from(`${lines.join('\n')}\n`);
  return { path: 'remnant/kubelet-pod.txt', source: path, outcome: 'ok', body };
}

async function mountsLeft(capture: Capture, { ids, pod }: Remnant): Promise<Evidence> {
  const [file] = await capture.host.readRisky([{ path: '/proc/1/mountinfo', maxBytes: 16 << 20 }], deadlineOf(capture));
  const marks = [...ids, ...(pod?.uid == null ? [] : [pod.uid])];
  const lines = (file?.body.toString('utf8') ?? '').split('\n').filter(line => marks.some(mark => line.includes(mark)));
  const body = Buffer.from(lines.map(line => `${line}\n`).join(''));
  const source = `/proc/1/mountinfo, lines with ${marks.join(', ')}`;
  const read = file?.outcome === 'ok' ? (body.length > 0 ? 'ok' : 'empty') : (file?.outcome ?? 'error');
  return { path: 'remnant/mounts.txt', source, outcome: read, body };
}
