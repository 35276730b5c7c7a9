/** Cuts a bundle down to what a rule is tried on: a fixture of some kilobytes, without a trace of the machine it is from. */
import { join } from 'node:path';
import { isIdle } from '../../../src/formats/proc/wchan.ts';

/** What is kept of one bundle. */
export interface Cut {
  /** Folder of the lab, which becomes `/lab`. */
  readonly folder: string;
  /** Processes whose rows of the process table are kept, by the text of the row. */
  readonly processes: RegExp;
  /** Devices whose rows of diskstats are kept. */
  readonly devices: RegExp;
  /** Names of the threads in D that are kept, where labs of others were there at the same time; all without it. */
  readonly blocked?: RegExp;
  /** Lines of the kernel's log that are kept; none without it. */
  readonly kernel?: RegExp;
  /** Lines of containerd's log that are kept; none without it. */
  readonly log?: RegExp;
  /** Entries that are kept whole, and that are left out. */
  readonly keep?: RegExp;
  readonly drop?: RegExp;
}

const ROOT = join(import.meta.dirname, '../../..');

type Trim = (text: string, cut: Cut) => string;

const KEPT: readonly (readonly [RegExp, Trim])[] = [
  [/^plan\.json$/, plan],
  [/^manifest\.json$/, manifest],
  [/^(?:shim|containers\/[^/]+)\/(?:threads|children)-\d+\.txt$/, text => waiting(text)],
  [/^node\/blocked\.txt$/, (text, { blocked }) => waiting(text, blocked)],
  [
    /^node\/processes\.txt$/,
    (text, { processes }) =>
      lines(
        text,
        line =>
          /^ +PID/.test(line) ||
          (processes.test(line) && !/main\.ts|stallcap/.test(line.replace(/\S*stallcap-lab-\S*/g, ''))),
      ),
  ],
  [/^node\/samples\.jsonl$/, samples],
  [
    /^(?:node|shim)\/mountinfo$/,
    (text, { folder }) => lines(text, line => line.includes(`${folder}/`) || /^\d+ \d+ \S+ \/ \/ /.test(line)),
  ],
  [/^node\/disks\.txt$/, (text, { folder }) => chapters(text, folder)],
  [/^node\/(?:fuse\.txt|pressure\/.*|cgroups|diskstats)$/, text => text],
  [/^shim\/goroutines\.txt$/, text => text],
  [/^containers\/[^/]+\/(?:cgroup\.txt|status\.json|status\.stat)$/, text => text],
  // What rules read of it stands in its beginning.
  [/^containers\/[^/]+\/runc\/state\.json$/, text => text.slice(0, 512)],
  [/^logs\/kernel\.log$/, (text, { kernel }) => (kernel === undefined ? '' : lines(text, line => kernel.test(line)))],
  [/^logs\/containerd\.log$/, (text, { log }) => (log === undefined ? '' : lines(text, line => log.test(line)))],
];

/** The entries that are kept, trimmed: path -> text. Those of which nothing is left are left out. */
export function trimmed(entries: ReadonlyMap<string, string>, cut: Cut): ReadonlyMap<string, string> {
  const kept = new Map<string, string>();
  for (const [path, text] of entries) {
    if (cut.drop?.test(path) === true) continue;
    const whole = cut.keep?.test(path) === true ? (all: string) => all : null;
    const trim = whole ?? KEPT.find(([form]) => form.test(path))?.[1];
    const left = trim?.(text, cut) ?? '';
    // That a listing is empty is an answer too.
    if (left !== '' || whole !== null) kept.set(path, withoutMachine(left, cut));
  }
  const record = kept.get('manifest.json');
  if (record !== undefined) kept.set('manifest.json', withoutItems(record, kept));
  return kept;
}

/** Where stallcap itself and other labs are on this machine is nobody's business. */
function withoutMachine(text: string, { folder }: Cut): string {
  return text
    .replaceAll(folder, '/lab')
    .replaceAll(ROOT, '/opt/stallcap')
    .replaceAll(/\/tmp\/stallcap-lab-[\w-]+/g, '/other-lab')
    .replaceAll(/\/tmp\/stallcap-capture-[\w-]+/g, '/captured');
}

/** Those of the own lab: others may have run at the same time. */
function chapters(text: string, folder: string): string {
  return text
    .split('\n\n')
    .filter(chapter => chapter.includes(folder) || / no overlay /.test(chapter))
    .join('\n\n');
}

function lines(text: string, keeps: (line: string) => boolean): string {
  const kept = text.split('\n').filter(line => line !== '' && keeps(line));
  return kept.length === 0 ? '' : `${kept.join('\n')}\n`;
}

/** Threads that wait for work are left out, the first of each process excepted. */
function waiting(text: string, names = /./): string {
  const blocks = text.split(/^(?=# process |===== )/m);
  let leader = false;
  return blocks
    .filter(block => {
      if (!block.startsWith('=====')) {
        leader = true;
        return true;
      }
      const first = leader;
      leader = false;
      const [, , comm = '', , wchan = null] = block.split(' ');
      return names.test(comm) && (first || !isIdle(wchan));
    })
    .join('');
}

/** io.stat and memory.stat are those of cgroup v2. */
const OF_CGROUPS = /(?:pressure|freezer\.state|pids\.current|memory\.failcnt|io\.stat|\/memory\.stat)$/;

/** The files of the node, without cgroups of others, and of those only the rows that rules read. */
function samples(text: string, { devices, folder }: Cut): string {
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  return lines(text, () => true)
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const sample = JSON.parse(line) as { files: Record<string, string> };
      const files = Object.entries(sample.files).flatMap(([path, body]): [string, string][] => {
        if (path === '/proc/diskstats') return [[path, lines(body, row => devices.test(row))]];
        if (path === '/proc/meminfo') return [[path, lines(body, row => /^(?:MemTotal|Dirty|Writeback):/.test(row))]];
        if (path.startsWith('/proc/pressure/')) return [[path, body]];
        if (path.startsWith('/sys/kernel/debug/bdi/7:')) return [[path, body]];
        return path.includes(name) && OF_CGROUPS.test(path) ? [[path.replaceAll(name, 'lab'), body]] : [];
      });
      return JSON.stringify({ ...sample, files: Object.fromEntries(files), notRead: {} });
    })
    .join('\n')
    .concat('\n');
}

const HOST = { hostname: 'node-1', bootId: '00000000-0000-0000-0000-000000000000' };

function plan(text: string): string {
  const { format, startedAt, host, target } = JSON.parse(text);
  return `${JSON.stringify({ format, startedAt, host: { ...host, ...HOST }, target }, null, 1)}\n`;
}

function manifest(text: string): string {
  const { format, capture, host, items, notGot, signals, stuckProbes } = JSON.parse(text);
  const { startedAt, endedAt, durationMs, outcome, clocks } = capture;
  const kept = { startedAt, endedAt, durationMs, outcome, clocks };
  const record = { format, capture: kept, host: { ...host, ...HOST }, items, notGot, signals, stuckProbes };
  return JSON.stringify(record);
}

/** Hashes and sizes were those of the whole entries. */
function withoutItems(text: string, kept: ReadonlyMap<string, string>): string {
  const record = JSON.parse(text) as { items: { path: string; bytes?: number; sha256?: string }[] };
  const items = record.items
    .filter(({ path }) => kept.has(path))
    .map(({ bytes: _bytes, sha256: _sha256, ...item }) => item);
  return `${JSON.stringify({ ...record, items }, null, 1)}\n`;
}
