import { formatDuration } from '../../formats/duration.ts';
import { type Blocked, blockedThreads, inside, partsOf, whoIs } from '../blocked.ts';
import type { Citation } from '../citation.ts';
import type { Facts } from '../facts.ts';
import { defineRule, type Finding, verdictAt } from '../rule.ts';
import { sleepsIn, threadWords } from '../standstill.ts';

/** fs/proc: files for which the reader takes the mmap_lock of the process. */
const READ = /^(?:cmdline|environ|maps|smaps\w*|auxv)$/;
/** Who holds it, or waits for it, in the process itself: a page fault, mmap, munmap, the end of the process. */
const IN_MM =
  /^(?:handle_mm_fault|filemap_fault|do_fault|do_user_addr_fault|__do_page_fault|do_page_fault|__access_remote_vm|get_user_pages\w*|vm_mmap_pgoff|do_mmap|__vm_munmap|do_madvise|exit_mm\w*|mmput|dup_mm\w*|mm_populate|ksys_mmap_pgoff|do_mprotect_pkey|__do_sys_brk)$/;

/** A process whose mmap_lock is held by a page fault that waits for a disk or a server: whoever reads its command line hangs too. */
export const mmapLock = defineRule({
  id: 'mmap-lock',
  title: 'Readers of a process hang with it: ps, top and pgrep among them',
  kind: 'stall',
  needs: ['processes'],
  *judge(facts) {
    for (const { pid, cites } of hungReads(facts)) {
      const own = blockedThreads(facts).filter(({ thread }) => thread.pid === pid);
      const counts =
        own.some(({ whose }) => whose !== 'other') || facts.target.target.kind === 'node' || isOfPod(pid, facts);
      // Others are told of by the rule elsewhere.
      if (counts) yield findingOf(pid, cites, own, facts);
    }
  },
});

export interface HungRead {
  readonly pid: number;
  readonly cites: readonly Citation[];
}

/** Processes of which a read of ours did not come back, while their stat did: by the sweep, and by probes that were left behind. */
export function hungReads({ processes, stuckProbes }: Pick<Facts, 'processes' | 'stuckProbes'>): readonly HungRead[] {
  const swept = (processes?.hung ?? [])
    .filter(({ file }) => READ.test(file.slice(file.lastIndexOf('/') + 1)))
    .map(({ pid, cite }) => ({ pid, cite }));
  const probed = (stuckProbes ?? []).flatMap(({ item, cite }) => {
    const [, pid, file = ''] = /^\/proc\/(\d+)\/(?:task\/\d+\/)?(\w+)$/.exec(item) ?? [];
    return pid !== undefined && READ.test(file) ? [{ pid: Number(pid), cite }] : [];
  });
  return [...Map.groupBy([...swept, ...probed], ({ pid }) => pid)].map(([pid, all]) => ({
    pid,
    cites: all.map(({ cite }) => cite),
  }));
}

export function isOfPod(pid: number, { threads }: Pick<Facts, 'threads'>): boolean {
  return threads?.all.some(thread => thread.pid === pid) === true;
}

function findingOf(pid: number, cites: readonly Citation[], own: readonly Blocked[], facts: Facts): Finding {
  const inMm = own.filter(({ thread }) => thread.state === 'D' && inside(thread, IN_MM) !== null);
  const [first] = inMm;
  // The fault may be on behalf of another process, which reads this one's memory.
  const holder = holderOf(inMm, pid, facts);
  const row = facts.processes?.byPid.get(pid);
  const age = first?.stood ?? holder?.stood ?? null;
  const frame = first === undefined ? null : inside(first.thread, IN_MM);
  return {
    verdict: verdictAt(age?.ageMs ?? null, first !== undefined ? 'proved' : 'likely'),
    says:
      `The command line of process ${pid}${row === undefined ? '' : ` (${row.args.split(' ')[0]})`} cannot be read${age === null ? '' : `, for ${formatDuration(age.ageMs)}`}: its mmap_lock is taken` +
      `${holder === undefined ? '' : ` by ${whoIs(holder, facts)}, which waits in ${sleepsIn(holder.thread) ?? 'D'}`}; ps, top and pgrep -f hang on it.`,
    because: [
      ...cites,
      ...(row === undefined ? [] : [row.cite]),
      ...inMm.slice(0, 2).flatMap(({ thread }) => thread.cites.slice(-1)),
      ...(frame === null ? [] : [frame]),
      ...(holder === undefined ? [] : holder.thread.cites.slice(-1)),
    ],
    next: [
      'Use what does not take that lock: /proc/PID/{comm,stat,status,wchan,stack}; `ps -eo pid,stat,wchan:32,comm` leaves out args for this reason.',
      holder === undefined
        ? 'Find the thread of this process that is in a page fault: what it faults in lies on a filesystem that does not answer.'
        : `See what ${holder.thread.tid} faults in: a file on a disk or a FUSE or NFS mount that does not answer.`,
    ],
    ageMs: age?.ageMs ?? null,
    ageFrom: age?.ageFrom ?? null,
    links: [
      ...inMm.slice(0, 3).map(blocked => ({
        says: threadWords(blocked.thread),
        about: partsOf(blocked),
        waitsFor: holder === undefined || holder === blocked ? [] : partsOf(holder),
      })),
      ...(holder === undefined || inMm.includes(holder)
        ? []
        : [
            {
              says: `${threadWords(holder.thread)}, with the mmap_lock of ${pid}`,
              about: partsOf(holder),
              waitsFor: [],
            },
          ]),
    ],
  };
}

const FAULTS = /^(?:handle_mm_fault|filemap_fault|do_fault|do_user_addr_fault|__access_remote_vm)$/;

/** A thread of the process in a page fault; else the one other thread of the node that faults on behalf of somebody else. */
function holderOf(inMm: readonly Blocked[], pid: number, facts: Facts): Blocked | undefined {
  const own = inMm.find(({ thread }) => inside(thread, FAULTS) !== null || thread.inPageFault);
  if (own !== undefined) return own;
  const remote = blockedThreads(facts).filter(
    ({ thread }) => thread.pid !== pid && inside(thread, '__access_remote_vm') !== null,
  );
  return remote.length === 1 ? remote[0] : undefined;
}
