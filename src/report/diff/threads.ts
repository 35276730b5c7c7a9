import type { Citation } from '../../diagnosis/citation.ts';
import type { Facts, Thread } from '../../diagnosis/facts.ts';
import { sleepsIn } from '../../diagnosis/standstill.ts';

export interface ThreadChanges {
  /** Threads that wait in B in the same place, with the same call and arguments, as in A. */
  readonly unmoved: readonly UnmovedThread[];
  /** Threads that stood in A, and stand no more. */
  readonly freed: readonly {
    readonly tid: number;
    readonly comm: string;
    readonly was: string;
    readonly now: string | null;
  }[];
  /** Threads that stand in B and did not in A. */
  readonly stuck: readonly {
    readonly tid: number;
    readonly comm: string;
    readonly where: string;
    readonly cite: Citation;
  }[];
}

export interface UnmovedThread {
  readonly tid: number;
  readonly comm: string;
  readonly where: string;
  /** In B, by the scheduler's clock; null where it does not tell. */
  readonly blockedForMs: number | null;
  readonly cite: Citation;
}

function waits({ idle, state }: Thread): boolean {
  return state === 'D' || (!idle && state !== 'R');
}

const placeOf = (thread: Thread) => `${thread.state} in ${thread.call?.name ?? sleepsIn(thread) ?? 'an unknown place'}`;
const standsAs = (thread: Thread) =>
  [thread.comm, thread.call?.name, ...(thread.call?.args ?? []), sleepsIn(thread)].join('\0');

/** How the threads of the pod stand in B that were in A. */
export function threadsBetween(a: Facts, b: Facts): ThreadChanges {
  const before = new Map((a.threads?.all ?? []).map(thread => [thread.tid, thread]));
  const after = new Map((b.threads?.all ?? []).map(thread => [thread.tid, thread]));
  const unmoved: UnmovedThread[] = [];
  const stuck: ThreadChanges['stuck'][number][] = [];
  for (const thread of after.values()) {
    if (!waits(thread)) continue;
    const { tid, comm, blockedForMs, cites } = thread;
    const was = before.get(tid);
    const found = { tid, comm, where: placeOf(thread), cite: cites.at(-1) ?? cites[0] };
    if (was !== undefined && waits(was) && standsAs(was) === standsAs(thread)) unmoved.push({ ...found, blockedForMs });
    else stuck.push(found);
  }
  const stays = new Set(unmoved.map(({ tid }) => tid));
  const freed = [...before.values()]
    .filter(thread => waits(thread) && !stays.has(thread.tid))
    .map(thread => {
      const now = after.get(thread.tid);
      return { tid: thread.tid, comm: thread.comm, was: placeOf(thread), now: now === undefined ? null : placeOf(now) };
    });
  return { unmoved, freed, stuck };
}
