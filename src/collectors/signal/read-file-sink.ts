import type { FileResult, FileStat, Host } from '../../host/port.ts';
import { namesIn } from '../evidence-of.ts';
import { type FileSink, placeOf } from './sink.ts';
import type { SinkText } from './sink-text.ts';

/** The end of the file that is read at most: a dump of thousands of goroutines is some MB. */
const MAX_BYTES = 8 << 20;
/** Read beside what is new: the file may grow between our lstat and our read. Older lines are told by their time. */
const SLACK_BYTES = 256 << 10;

/**
 * What was written to the file since the signal. Survives rotation in its three manners: the file was renamed and the
 * writer goes on in it (its own link tells the new name); it was renamed and the writer opened a new one (the old one is
 * found by inode beside it; k3s); it was copied and cut (it is shorter than before, and is read from its start).
 */
export async function readFileSink(
  host: Pick<Host, 'readRisky'>,
  sink: FileSink,
  deadlineMs: number,
): Promise<SinkText> {
  const deadline = { deadlineMs, itemMs: Math.min(1000, deadlineMs) };
  const path = (await currentPath(host, sink, deadline)) ?? sink.path;
  const [found] = await host.readRisky([{ path: sink.prefix + path, what: 'stat' }], deadline);
  const now = found?.stat ?? null;
  const notes: string[] = [];
  const files: { path: string; from: number; size: number }[] = [];

  const { before } = sink;
  if (before !== null && now !== null && now.inode !== before.inode) {
    const old = await rotatedPath(host, sink, before, deadline);
    notes.push(`${sink.path} was rotated${old === null ? '' : ` to ${old.path}`}`);
    if (old !== null) files.push({ path: old.path, from: before.size, size: old.size });
    files.push({ path, from: 0, size: now.size });
  } else if (now !== null) {
    const cut = before !== null && now.size < before.size;
    if (cut) notes.push(`${path} was cut from ${before.size} to ${now.size} bytes`);
    files.push({ path, from: cut ? 0 : (before?.size ?? 0), size: now.size });
  }
  if (path !== sink.path) notes.push(`${sink.path} is called ${path} now`);

  const reads = await host.readRisky(
    files.map(file => ({
      path: sink.prefix + file.path,
      keep: 'tail',
      maxBytes: Math.min(MAX_BYTES, Math.max(0, file.size - file.from) + SLACK_BYTES),
    })),
    deadline,
  );
  const failed = [found, ...reads].find(read => read === undefined || !hasBytes(read));
  return {
    text: reads.map(read => read.body.toString()).join(''),
    source: [sink.path, ...files.map(file => file.path)].filter((name, at, all) => all.indexOf(name) === at).join(' '),
    failed: failed === undefined ? null : `${failed.path}: ${failed.detail ?? failed.outcome}`,
    hung: failed?.outcome === 'timeout',
    rateLimited: false,
    notes,
  };
}

/** A tail is `truncated` by its nature, and an empty file is a file. */
function hasBytes(read: FileResult): boolean {
  return read.outcome === 'ok' || read.outcome === 'empty' || read.outcome === 'truncated';
}

async function currentPath(
  host: Pick<Host, 'readRisky'>,
  { writer }: FileSink,
  deadline: { readonly deadlineMs: number; readonly itemMs: number },
): Promise<string | null> {
  const [link] = await host.readRisky([{ path: `/proc/${writer.pid}/fd/${writer.fd}`, what: 'link' }], deadline);
  const place = link?.outcome === 'ok' ? placeOf(link.body.toString()) : null;
  return place?.kind === 'file' ? place.path : null;
}

/** A neighbour of the file that is the inode from before. */
async function rotatedPath(
  host: Pick<Host, 'readRisky'>,
  sink: FileSink,
  before: FileStat,
  deadline: { readonly deadlineMs: number; readonly itemMs: number },
): Promise<{ readonly path: string; readonly size: number } | null> {
  const slash = sink.path.lastIndexOf('/');
  const directory = sink.path.slice(0, slash);
  const stem = sink.path.slice(slash + 1).replace(/\.log$/, '');
  const [listing] = await host.readRisky([{ path: sink.prefix + directory, what: 'dir' }], deadline);
  const paths = (listing === undefined ? [] : namesIn(listing))
    .filter(name => name.startsWith(stem) && !name.endsWith('/'))
    .map(name => `${directory}/${name}`);
  const stats = await host.readRisky(
    paths.map(path => ({ path: sink.prefix + path, what: 'stat' })),
    deadline,
  );
  const index = stats.findIndex(file => file.stat?.inode === before.inode && file.stat.device === before.device);
  const path = paths[index];
  return path === undefined ? null : { path, size: stats[index]?.stat?.size ?? 0 };
}
