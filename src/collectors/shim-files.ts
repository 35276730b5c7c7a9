import type { Evidence } from '../bundle/evidence.ts';
import { escapeColumn, escapeLine } from '../formats/escape.ts';
import { parseStat } from '../formats/proc/stat.ts';
import type { FileRequest, FileResult } from '../host/port.ts';
import type { Shim } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf, evidenceOf, namesIn } from './evidence-of.ts';
import { processTree } from './process-tree.ts';
import { shimFolder } from './shim-folder.ts';

/** Files of /proc/<shim> that are kept byte for byte under their own names. cmdline may hang: it takes the mmap lock. */
const VERBATIM = ['status', 'stat', 'cgroup', 'limits', 'io', 'sched', 'mountinfo', 'cmdline'] as const;
const LINKS = ['exe', 'cwd', 'root', 'ns/mnt', 'ns/pid', 'ns/net', 'ns/ipc', 'ns/uts', 'ns/user', 'ns/cgroup'] as const;

/** What /proc says about the shim beside its threads: its files, its links, its open descriptors, all that it has forked. */
export const shimFiles: Collector = {
  name: 'shim-files',
  phase: 'sweep',
  deadlineMs: 5000,
  targets: ['sandbox'],
  async *collect(capture) {
    for (const shim of capture.shims) {
      const folder = shimFolder(capture.shims, shim);
      yield* verbatim(capture, shim, folder);
      yield await links(capture, shim, folder);
      yield await descriptors(capture, shim, folder);
      yield await children(capture, shim, folder);
    }
  },
};

async function* verbatim(capture: Capture, shim: Shim, folder: string): AsyncGenerator<Evidence> {
  const results = await readAll(
    capture,
    VERBATIM.map(name => ({ path: `/proc/${shim.pid}/${name}`, maxBytes: 4 << 20 })),
  );
  for (const [index, result] of results.entries()) yield evidenceOf(`${folder}/${VERBATIM[index]}`, result);
}

/** `links.txt`: one `name -> target` per line. */
async function links(capture: Capture, shim: Shim, folder: string): Promise<Evidence> {
  const results = await readAll(
    capture,
    LINKS.map(name => ({ path: `/proc/${shim.pid}/${name}`, what: 'link' })),
  );
  const lines = results.map((result, index) => `${LINKS[index]} -> ${targetOf(result)}\n`);
  return table(`${folder}/links.txt`, `/proc/${shim.pid}/{${LINKS.join(',')}}`, lines, results);
}

/** `fd.txt`: one `<fd> -> <target>` per line; after descriptors 1 and 2 their flags (octal, open(2)) from fdinfo. */
async function descriptors(capture: Capture, shim: Shim, folder: string): Promise<Evidence> {
  const directory = `/proc/${shim.pid}/fd`;
  const [listing] = await readAll(capture, [{ path: directory, what: 'dir' }]);
  if (listing === undefined || listing.outcome !== 'ok') return table(`${folder}/fd.txt`, directory, [], [listing]);
  const fds = namesIn(listing)
    .map(Number)
    .sort((a, b) => a - b);
  const [info1, info2, ...targets] = await readAll(capture, [
    { path: `/proc/${shim.pid}/fdinfo/1` },
    { path: `/proc/${shim.pid}/fdinfo/2` },
    ...fds.map((fd): FileRequest => ({ path: `${directory}/${fd}`, what: 'link' })),
  ]);
  const flags = new Map([
    [1, flagsOf(info1)],
    [2, flagsOf(info2)],
  ]);
  const lines = fds.map((fd, index) => `${fd} -> ${targetOf(targets[index])}${flags.get(fd) ?? ''}\n`);
  return table(`${folder}/fd.txt`, `${directory}/* /proc/${shim.pid}/fdinfo/{1,2}`, lines, targets);
}

/** `children.txt`: all that is below the shim, parents first: `pid ppid state start_ticks comm`, `?` where unread. */
async function children(capture: Capture, shim: Shim, folder: string): Promise<Evidence> {
  const tree = processTree(capture.host, shim.pid);
  const stats = await readAll(
    capture,
    tree.descendants.map(child => ({ path: `/proc/${child.pid}/stat` })),
  );
  const lines = tree.descendants.map((child, index) => {
    const stat = parseStat(stats[index]?.body.toString() ?? '');
    return `${child.pid} ${child.ppid} ${stat?.state ?? '?'} ${stat?.startTicks ?? '?'} ${escapeColumn(child.comm)}\n`;
  });
  const evidence = table(
    `${folder}/children.txt`,
    `/proc/${shim.pid}/task/*/children and below`,
    lines.length === 0 ? [] : ['pid ppid state start_ticks comm\n', ...lines],
    stats.filter(stat => stat.outcome !== 'gone'),
  );
  return tree.capped ? { ...evidence, outcome: 'truncated', detail: 'more threads than are walked' } : evidence;
}

function readAll(capture: Capture, files: readonly FileRequest[]): Promise<readonly FileResult[]> {
  return capture.host.readRisky(files, { ...deadlineOf(capture, 2000), itemMs: 500 });
}

function targetOf(result: FileResult | undefined): string {
  if (result === undefined) return '?';
  return result.outcome === 'ok' ? escapeLine(result.body.toString()) : `(${result.detail ?? result.outcome})`;
}

function flagsOf(info: FileResult | undefined): string {
  const flags = /^flags:\s*(\d+)$/m.exec(info?.body.toString() ?? '')?.[1];
  return flags === undefined ? '' : ` flags ${flags}`;
}

/** A text made of many reads: as bad as the worst of them, descriptors closed in between (`gone`) not counted. */
function table(
  path: string,
  source: string,
  lines: readonly string[],
  reads: readonly (FileResult | undefined)[],
): Evidence {
  const failed = reads.filter(read => read !== undefined && read.outcome !== 'ok' && read.outcome !== 'empty');
  const worst = failed.find(read => read?.outcome !== 'gone') ?? (lines.length === 0 ? failed[0] : undefined);
  const detail = worst === undefined ? undefined : `${worst.path}: ${worst.detail ?? worst.outcome}`;
  return {
    path,
    source,
    outcome: worst?.outcome ?? (lines.length === 0 ? 'empty' : 'ok'),
    body: Buffer.from(lines.join('')),
    ...(detail === undefined ? {} : { detail }),
  };
}
