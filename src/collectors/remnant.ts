import type { Evidence } from '../bundle/evidence.ts';
import { parseBundlePath } from '../formats/runtime/bundle-path.ts';
import { parsePodLogDirectory } from '../formats/runtime/pod-log-directory.ts';
import { podUidOfKubeletPath } from '../formats/runtime/pod-uid.ts';
import type { FileResult } from '../host/port.ts';
import type { Remnant } from '../sandbox/types.ts';
import { suffixOf } from './ask.ts';
import { bundlesOf } from './bundle-directories.ts';
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
 * What is left of a pod that has no shim: its logs, the kubelet's directory of it, CRI's status files, bundle directories,
 * and mounts that nobody has taken away.
 */
export const remnant: Collector = {
  name: 'remnant',
  phase: 'files',
  deadlineMs: 6000,
  targets: ['remnant'],
  async *collect(capture) {
    if (capture.target.kind !== 'remnant') return;
    const { remnant: remains } = capture.target;
    // A pod that was made anew has left one of each for each of its uids.
    for (const [index, path] of remains.paths.filter(isPodLogs).entries())
      yield* podLogs(capture, path, suffixOf(index));
    for (const [index, path] of remains.paths.filter(isKubeletPod).entries())
      yield await kubeletPod(capture, path, suffixOf(index));
    const containers = remains.paths.flatMap(path => {
      const id = CRI_CONTAINER.exec(path)?.[2];
      return id === undefined ? [] : [{ id, directory: path }];
    });
    yield* statusesOf(capture, containers);
    yield* bundlesOf(capture, remains.paths.flatMap(bundleAt));
    yield await mountsLeft(capture, remains);
  },
};

/** Its runc left its last complaint in there (log.json). */
function bundleAt(path: string): readonly { readonly id: string; readonly bundle: string }[] {
  const at = parseBundlePath(path);
  return at === null ? [] : [{ id: at.id, bundle: path }];
}

function isPodLogs(path: string): boolean {
  return path.startsWith('/var/log/pods/') || /\/pods\/[^/_]+_[^/_]+_[^/_]+$/.test(path);
}

function isKubeletPod(path: string): boolean {
  return !isPodLogs(path) && /\/pods\/[^/]+$/.test(path);
}

/** One log of a container, and its lstat. */
interface PodLog {
  readonly container: string;
  readonly name: string;
  readonly file: FileResult | null;
}

/** A list of all logs of the pod, and the end of the newest ones. */
async function* podLogs(capture: Capture, path: string, suffix: string): AsyncGenerator<Evidence> {
  const logs = await logsBelow(capture, path);
  const rows = logs.map(({ container, name, file }): ListedFile => ({ name: `${container}/${name}`, file }));
  const body = listing(path, capture.host.now().wall, rows);
  yield { path: `remnant/pod-logs${suffix}.txt`, source: path, outcome: 'ok', body };
  const files = logs.filter(({ file }) => file?.stat?.type === 'file');
  for (const [container, own] of Map.groupBy(files, log => log.container)) {
    const newest = own.toSorted(newestFirst).slice(0, LOGS_PER_CONTAINER);
    const tails = await capture.host.readRisky(
      newest.map(({ name }) => ({ path: `${path}/${container}/${name}`, maxBytes: LOG_TAIL_BYTES, keep: 'tail' })),
      deadlineOf(capture),
    );
    for (const [index, tail] of tails.entries())
      yield evidenceOf(
        `logs/pods${suffix}/${entryPart(container)}/${entryPart(newest[index]?.name ?? '')}`,
        asked(tail),
      );
  }
}

/** /var/log/pods/<namespace>_<name>_<uid>/<container>/<restarts>.log (kubelet, kuberuntime). Links (docker's) are not followed. */
async function logsBelow(capture: Capture, path: string): Promise<readonly PodLog[]> {
  const [root] = await capture.host.readRisky([{ path, what: 'dir' }], deadlineOf(capture));
  const containers = (root === undefined ? [] : namesIn(root)).filter(name => name.endsWith('/')).map(bare);
  const directories = await capture.host.readRisky(
    containers.map(name => ({ path: `${path}/${name}`, what: 'dir' }) as const),
    deadlineOf(capture),
  );
  const logs = directories.flatMap((directory, index) =>
    namesIn(directory).map(name => ({ container: containers[index] ?? '', name })),
  );
  const files = await capture.host.readRisky(
    logs.map(({ container, name }) => ({ path: `${path}/${container}/${name}`, what: 'stat' }) as const),
    deadlineOf(capture),
  );
  return logs.map((log, index) => ({ ...log, file: files[index] ?? null }));
}

function newestFirst(a: PodLog, b: PodLog): number {
  return BigInt(a.file?.stat?.mtimeNs ?? 0) < BigInt(b.file?.stat?.mtimeNs ?? 0) ? 1 : -1;
}

/** That only the end of a log was read is what was asked for. */
function asked(file: FileResult): FileResult {
  const tail = file.outcome === 'truncated' && file.body.length > 0;
  return tail ? { ...file, outcome: 'ok', body: fromLineStart(file.body) } : file;
}

/** Names alone: /var/lib/kubelet/pods/<uid>/{containers,plugins,volumes}/…, where a left mount keeps a pod Terminating. */
async function kubeletPod(capture: Capture, path: string, suffix: string): Promise<Evidence> {
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
        if (name.endsWith('/')) next.push(`${level[index]}/${bare(name)}`);
      }
    }
    level = next;
  }
  const body = Buffer.from(`${lines.join('\n')}\n`);
  return { path: `remnant/kubelet-pod${suffix}.txt`, source: path, outcome: 'ok', body };
}

async function mountsLeft(capture: Capture, { ids, pod, paths }: Remnant): Promise<Evidence> {
  const [file] = await capture.host.readRisky([{ path: '/proc/1/mountinfo', maxBytes: 16 << 20 }], deadlineOf(capture));
  const uids = paths.flatMap(
    path => (isPodLogs(path) ? parsePodLogDirectory(path)?.uid : podUidOfKubeletPath(path)) ?? [],
  );
  const marks = [...new Set([...ids, ...(pod?.uid == null ? [] : [pod.uid]), ...uids])];
  const lines = (file?.body.toString('utf8') ?? '').split('\n').filter(line => marks.some(mark => line.includes(mark)));
  const body = Buffer.from(lines.map(line => `${line}\n`).join(''));
  const source = `/proc/1/mountinfo, lines with ${marks.join(', ')}`;
  const read = file?.outcome === 'ok' ? (body.length > 0 ? 'ok' : 'empty') : (file?.outcome ?? 'error');
  return { path: 'remnant/mounts.txt', source, outcome: read, body };
}

function bare(directory: string): string {
  return directory.replace(/\/$/, '');
}
