import { completenessOf } from '../../formats/goroutines/completeness.ts';
import { END } from '../../formats/goroutines/find-dumps.ts';
import type { Goroutine } from '../../formats/goroutines/goroutine.ts';
import { groupByStack } from '../../formats/goroutines/group.ts';
import { parseGoroutines } from '../../formats/goroutines/parse-goroutines.ts';
import { cite } from '../citation.ts';
import type { GoroutineFact, GoroutineGroupFact, PodThreads, ShimGoroutines, Thread } from '../facts.ts';
import type { Entries } from './entries.ts';
import { locksIn, waitsForLock } from './go-locks.ts';

const DUMP = /^shim\/(?:(\d+)\/)?goroutines\.txt$/;

/** Every dump of a shim that was got, whole or not. Null when none was. */
export function goroutinesFrom(entries: Entries, threads: PodThreads | null): readonly ShimGoroutines[] | null {
  const { target } = entries.plan;
  const shims = target.kind === 'sandbox' ? target.sandbox.shims : [];
  const dumps = entries.matching(DUMP).flatMap(path => {
    const text = entries.text(path) ?? '';
    const shimPid = Number(DUMP.exec(path)?.[1] ?? shims[0]?.pid ?? 0);
    return text.includes('goroutine ') ? [dumpOf(path, text, shimPid, threads)] : [];
  });
  return dumps.length === 0 ? null : dumps;
}

function dumpOf(entry: string, text: string, shimPid: number, threads: PodThreads | null): ShimGoroutines {
  const { goroutines } = parseGoroutines(text);
  const { complete, verdict } = completenessOf(goroutines, text.includes(END) ? 'seen' : 'missing');
  const own = threads?.all.filter(({ pid }) => pid === shimPid) ?? [];
  const facts = new Map(goroutines.map(goroutine => [goroutine.id, factOf(goroutine, entry)]));
  for (const [id, fact] of facts) facts.set(id, { ...fact, tid: threadOf(fact, own, facts.values()) });
  const all = [...facts.values()];
  return {
    ...{ shimPid, entry, complete, verdict, all },
    groups: groupsOf(goroutines, facts),
    locks: locksIn(all),
    idle: complete && all.every(isSteady),
  };
}

/** A goroutine with where it stands and which call of the shim it serves. @param entry that the dump is in */
export function factOf(goroutine: Goroutine, entry: string): GoroutineFact {
  const { id, state, minutes, frames, lineNumber } = goroutine;
  const heading = `goroutine ${id} [${state}${minutes === null ? '' : `, ${minutes} minutes`}]`;
  const telling = frames.filter(({ function: name }) => !OF_GO.test(name));
  const at = telling.length === 0 ? '' : `: ${telling.slice(0, 4).map(shortName).join(' ← ')}`;
  return {
    ...{ id, state, minutes, frames, line: lineNumber },
    cite: cite(entry, lineNumber, heading + at),
    rpc: rpcOf(goroutine),
    tid: null,
  };
}

/** Go's own packages at the top of a stack say less than the state in the heading. */
const OF_GO = /^(?:sync|runtime|internal|syscall|time)[./]/;

const shortName = ({ function: name }: { readonly function: string }) => name.slice(name.lastIndexOf('/') + 1);

/** The shim's service is `task.(*service)`, of v1 shims `shim.(*Service)`: its methods are the requests. */
function rpcOf({ frames }: Goroutine): string | null {
  const isRequest = frames.some(({ function: name }) =>
    /\.(?:\(\*serviceSet\)|Register\w*Service\.func\d+)/.test(name),
  );
  if (!isRequest) return null;
  for (const { function: name } of frames.toReversed()) {
    const method = /\.\(\*[sS]ervice\)\.([A-Z]\w*)$/.exec(name)?.[1];
    if (method !== undefined) return method;
  }
  return null;
}

/** Goroutines with the same stack, as one. */
export function groupsOf(
  goroutines: readonly Goroutine[],
  facts: ReadonlyMap<number, GoroutineFact>,
): readonly GoroutineGroupFact[] {
  return groupByStack(goroutines).flatMap(({ example, ids, oldestMinutes, youngestMinutes }) => {
    const fact = facts.get(example.id);
    return fact === undefined ? [] : [{ example: fact, count: ids.length, oldestMinutes, youngestMinutes }];
  });
}

/** Go's wrappers of system calls (golang.org/x/sys/unix, syscall, os) to their names in the kernel. */
const CALLS: readonly (readonly [RegExp, string])[] = [
  [/(?:unix|syscall)\.Unmount$/, 'umount2'],
  [/(?:unix|syscall)\.[mM]ount$/, 'mount'],
  [/(?:unix|syscall)\.(?:Fdatasync|fdatasync)$/, 'fdatasync'],
  [/(?:unix|syscall)\.(?:Fsync|fsync)$/, 'fsync'],
  [/(?:unix|syscall)\.(?:Statfs|statfs)$/, 'statfs'],
  [/syscall\.(?:unlinkat|Unlinkat)$/, 'unlinkat'],
  [/syscall\.rmdir$/, 'rmdir'],
];

function callOf({ frames }: Pick<GoroutineFact, 'frames'>): string | null {
  for (const { function: name } of frames.slice(0, 6)) {
    const call = CALLS.find(([form]) => form.test(name))?.[1];
    if (call !== undefined) return call;
  }
  return null;
}

/**
 * The thread under a goroutine that is in a system call. `syscall.Syscall(0xa6, 0x1af229bcebd0, …)` has the number and the
 * arguments of the thread's registers; builds of Go that keep arguments in registers print them with `?`, which is worth
 * nothing. Then one goroutine and one thread in the same call belong together.
 */
function threadOf(goroutine: GoroutineFact, threads: readonly Thread[], all: Iterable<GoroutineFact>): number | null {
  const raw = goroutine.frames[0];
  const [, number, first] = /^(0x[0-9a-f]+), (0x[0-9a-f]+)(?:,|$)/.exec(raw?.args ?? '') ?? [];
  if (number !== undefined && first !== undefined && /\.(?:Raw)?Syscall6?$/.test(raw?.function ?? '')) {
    const found = threads.find(({ call }) => call?.number === Number(number) && call.args[0] === first);
    if (found !== undefined) return found.tid;
  }
  const name = callOf(goroutine);
  if (name === null) return null;
  const inCall = threads.filter(({ call }) => call?.name === name);
  const rivals = [...all].filter(other => callOf(other) === name);
  return inCall.length === 1 && rivals.length === 1 ? (inCall[0]?.tid ?? null) : null;
}

/** Requests that wait for the end of a process as long as it lives. */
const STEADY_REQUESTS: ReadonlySet<string | null> = new Set([null, 'Wait']);

/** Ways of a shim that mean work when something is below them; a write that waits is one of stdio or of the log. */
const WORK =
  /\.\(\*(?:Init|execProcess)\)\.|\.\(\*service\)\.(?:checkProcesses|handleProcessExit)|\.\(\*RemoteEventsPublisher\)\.Publish$|poll\.\(\*FD\)\.Write$/;

function isSteady(goroutine: GoroutineFact): boolean {
  if (!STEADY_REQUESTS.has(goroutine.rpc) || waitsForLock(goroutine) !== null) return false;
  return goroutine.rpc === 'Wait' || !goroutine.frames.some(({ function: name }) => WORK.test(name));
}
