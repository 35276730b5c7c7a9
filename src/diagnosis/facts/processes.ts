import type { Target } from '../../sandbox/types.ts';
import { cite } from '../citation.ts';
import type { DaemonFacts, Process, ProcessTable } from '../facts.ts';
import type { LineReader } from './lines.ts';
import type { ItemRecord } from './manifest-record.ts';

export const PROCESSES = 'node/processes.txt';

/** `PID TID PPID STAT WCHAN ELAPSED COMMAND`, one row per thread. */
const ROW = /^ *(\d+) +(\d+) +(\d+) +(\S+) +(\S+) +((?:\d+-)?[\d:]+|-) (.*)$/;

/** More than any node runs; those beyond are counted, and not kept. */
const MOST_PROCESSES = 150_000;

/** Reads node/processes.txt row by row; a node of 20,000 threads leaves some hundred processes. */
export function processReader(): { readonly read: LineReader; table(item: ItemRecord | null): ProcessTable | null } {
  const byPid = new Map<number, Process>();
  let threads = 0;
  let threadsInD = 0;
  return {
    read(line, number) {
      const [, pid, tid, ppid, stat = '', wchan = '', elapsed = '', args = ''] = ROW.exec(line) ?? [];
      if (pid === undefined) return;
      const inD = stat.startsWith('D') ? 1 : 0;
      threads += 1;
      threadsInD += inD;
      const known = byPid.get(Number(pid));
      if (known === undefined && byPid.size >= MOST_PROCESSES) return;
      if (known === undefined || pid === tid) {
        byPid.set(Number(pid), {
          ...{ pid: Number(pid), ppid: Number(ppid), stat, wchan: /^[-?]$/.test(wchan) ? null : wchan },
          ...{ ageMs: elapsedMs(elapsed), args },
          threads: (known?.threads ?? 0) + 1,
          threadsInD: (known?.threadsInD ?? 0) + inD,
          cite: cite(PROCESSES, number, line),
        });
      } else {
        byPid.set(Number(pid), { ...known, threads: known.threads + 1, threadsInD: known.threadsInD + inD });
      }
    },
    table(item) {
      if (byPid.size === 0) return null;
      const children = Map.groupBy(byPid.values(), ({ ppid }) => ppid);
      return { byPid, children, threads, threadsInD, hung: hungReads(item?.detail ?? '') };
    },
  };
}

/** `[[dd-]hh:]mm:ss` */
function elapsedMs(text: string): number | null {
  const [, days, rest = ''] = /^(?:(\d+)-)?(\d[\d:]*)$/.exec(text) ?? [];
  if (rest === '') return null;
  const seconds = rest.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days ?? 0) * 86_400 + seconds) * 1000;
}

/** The sweep says in the manifest which files did not answer: `cmdline of 812 did not answer`. */
function hungReads(detail: string): ProcessTable['hung'] {
  return [...detail.matchAll(/(?:^|; )(\S+) of (\d+) did not answer/g)].map(([text, file = '', pid]) => ({
    pid: Number(pid),
    file,
    cite: cite('manifest.json', null, text.replace(/^; /, '')),
  }));
}

/** Everything below a process, itself not included. */
export function descendants(table: ProcessTable, pid: number): readonly Process[] {
  const found = new Map<number, Process>();
  const from = [pid];
  for (let parent = from.pop(); parent !== undefined; parent = from.pop()) {
    for (const child of table.children.get(parent) ?? []) {
      if (found.has(child.pid) || child.pid === pid) continue;
      found.set(child.pid, child);
      from.push(child.pid);
    }
  }
  return [...found.values()];
}

/** First word of the command line, without its directory; k3s and microk8s have the kubelet inside. */
const DAEMONS: readonly (readonly [RegExp, DaemonFacts['kind']])[] = [
  [/^(?:docker-)?containerd$/, 'containerd'],
  [/^dockerd(?:-current)?$/, 'dockerd'],
  [/^(?:kubelet|hyperkube|kubelite|k3s-(?:server|agent))$/, 'kubelet'],
];

/** containerd, dockerd and kubelet by their command lines; one whose command line hangs stands there as `[containerd]`. */
export function daemonsIn(table: ProcessTable, sweptAt: number, target: Target): readonly DaemonFacts[] {
  const found = [...table.byPid.values()].flatMap(process => {
    const [word = ''] = process.args.split(' ');
    const name = word.replace(/^\[|\]$/g, '').replace(/^.*\//, '');
    const kind = DAEMONS.find(([form]) => form.test(name))?.[1];
    return kind === undefined ? [] : [{ process, kind }];
  });
  // A container may call a thousand processes so.
  const byKind = Map.groupBy(found, ({ kind }) => kind);
  return found.map(({ process, kind }): DaemonFacts => {
    const { pid, stat, ageMs, args, threadsInD, cite: citation } = process;
    const alone = byKind.get(kind)?.length === 1;
    const startedAt = ageMs === null ? null : sweptAt - ageMs;
    const ofTarget = alone || namesTarget(args, target) ? true : null;
    return { kind, pid, stat, ageMs, startedAt, args, ofTarget, threadsInD, cite: citation };
  });
}

/** `--address /run/k3s/containerd/containerd.sock`, `--state`, `--root`, or a configuration file beside the state directory. */
export function namesTarget(args: string, target: Target): boolean {
  if (target.kind !== 'sandbox') return false;
  const own = target.sandbox.shims.flatMap(({ address, state, root }) => [
    address?.replace(/^unix:\/\//, ''),
    state,
    root,
  ]);
  const words = args.split(/[ =]/);
  return own.some(
    path => path != null && path.length > 4 && (words.includes(path) || words.some(word => isBeside(word, path))),
  );
}

function isBeside(word: string, path: string): boolean {
  const directory = word.slice(0, word.lastIndexOf('/'));
  return word.endsWith('.toml') && directory !== '' && directory !== '/etc' && path.startsWith(`${directory}/`);
}
