import { unescapeLine } from '../../formats/escape.ts';
import { parseSyscall } from '../../formats/proc/syscall.ts';
import { architectureOf, syscallName } from '../../formats/proc/syscall-names.ts';
import { wchanSymbol } from '../../formats/proc/wchan.ts';
import { parseThreadDump } from '../../formats/thread-dump.ts';
import { cite } from '../citation.ts';
import type { FirstLook, PodThreads, ProcessTable, ShimFacts } from '../facts.ts';
import { citeFirst, citeLine, type Entries, saysGone } from './entries.ts';
import type { Said } from './views-document.ts';

/** The shims of the target. Null for a target without any. */
export function shimsFrom(
  entries: Entries,
  threads: PodThreads | null,
  processes: ProcessTable | null,
  said: Said | null,
): readonly ShimFacts[] | null {
  const { target } = entries.plan;
  if (target.kind !== 'sandbox') return null;
  const { shims } = target.sandbox;
  return shims.map(({ pid, generation, bundleDeleted }) => {
    const folder = shims.length === 1 ? 'shim' : `shim/${pid}`;
    const look = lastLook(entries, folder);
    const leader = threads?.all.find(thread => thread.pid === pid && thread.tid === pid);
    const row = processes?.byPid.get(pid);
    const text = look === null ? '' : (entries.text(look) ?? '');
    const gone = look !== null && saysGone(text, pid);
    const alive = look !== null ? !gone && text !== '' : row === undefined ? null : true;
    return {
      ...{ pid, folder, generation, bundleDeleted, alive },
      ageMs: row?.ageMs ?? null,
      children: childrenIn(entries, folder),
      descriptors: descriptorsIn(entries, folder),
      connect: said?.connect(pid) ?? null,
      state: leader?.state ?? row?.stat.slice(0, 1) ?? null,
      firstLook: firstLookIn(entries, folder, pid),
      cite: look === null ? (row?.cite ?? cite('plan.json', null, `shim ${pid}`)) : citeFirst(look, text, /^# process/),
    };
  });
}

function lastLook(entries: Entries, folder: string): string | null {
  const form = new RegExp(`^${folder}/threads-(\\d+)\\.txt$`);
  const looks = entries.matching(form);
  return looks.toSorted((a, b) => Number(form.exec(a)?.[1]) - Number(form.exec(b)?.[1])).at(-1) ?? null;
}

function firstLookIn(entries: Entries, folder: string, pid: number): readonly FirstLook[] | null {
  const path = `${folder}/threads-1.txt`;
  const text = entries.text(path);
  if (text === null) return null;
  const architecture = architectureOf(entries.plan.host.architecture);
  const threads = parseThreadDump(text).threads.filter(thread => (thread.pid ?? pid) === pid);
  return threads.map(({ tid, state, wchan, syscall, blockedForSeconds, line }) => {
    const call = syscall === null ? null : parseSyscall(syscall);
    return {
      ...{ tid, state: state ?? '?', wchan: wchanSymbol(wchan) },
      call: call?.kind === 'call' && architecture !== null ? syscallName(call.number, architecture) : null,
      blockedForMs: blockedForSeconds === null ? null : Math.round(blockedForSeconds * 1000),
      cite: citeLine(path, text, line),
    };
  });
}

/** children.txt: `pid ppid state start_ticks comm`, a heading above. */
function childrenIn(entries: Entries, folder: string): ShimFacts['children'] {
  const path = `${folder}/children.txt`;
  const text = entries.text(path);
  if (text === null) return null;
  return text.split('\n').flatMap((line, index) => {
    const [, pid, ppid, state = '?', comm = ''] = /^(\d+) (\d+) (\S) \S+ (\S+)$/.exec(line) ?? [];
    if (pid === undefined) return [];
    const at = citeLine(path, text, index + 1);
    return [{ pid: Number(pid), ppid: Number(ppid), state, comm: unescapeLine(comm), cite: at }];
  });
}

/** fd.txt: `5 -> pipe:[610006]`, after 1 and 2 also ` flags 0100001`. */
function descriptorsIn(entries: Entries, folder: string): ShimFacts['descriptors'] {
  const text = entries.text(`${folder}/fd.txt`);
  if (text === null || text === '') return null;
  const found = new Map<number, string>();
  for (const [, fd, target = ''] of text.matchAll(/^(\d+) -> (.*?)(?: flags [0-7]+)?$/gm)) {
    found.set(Number(fd), unescapeLine(target));
  }
  return found;
}
