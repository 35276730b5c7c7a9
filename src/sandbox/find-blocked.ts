import { setTimeout as sleep } from 'node:timers/promises';
import type { CpuClocks } from '../formats/proc/cpu-clocks.ts';
import { parseStat } from '../formats/proc/stat.ts';
import { roleOf } from '../formats/proc/waiting-places.ts';
import type { FirstLook, Host, ProcessLook } from '../host/port.ts';
import { type BlockedThread, blockedThreads, longestFirst } from './blocked-threads.ts';
import { clocksOf } from './clocks-of-looks.ts';
import { type NodeProcess, type ProcessTree, readProcessTree } from './process-tree.ts';
import type { Sandbox, Shim } from './types.ts';

/** Blocked threads of each sandbox's tree, longest first; a sandbox without any has an empty list. */
export type BlockedBySandbox = ReadonlyMap<Sandbox, readonly BlockedThread[]>;

export interface FindOptions {
  /** What the entry saw; shims that it did not look at are looked at now. */
  readonly firstLook: FirstLook | null;
  readonly deadlineMs: number;
  readonly tree?: ProcessTree;
}

/** One process that does not answer must not take the time of the others. */
const ITEM_MS = 400;
const PER_CALL = 32;
/** Without them only threads on our own CPU have an age. */
const CLOCKS_MS = 500;
/** Longer than what counts as blocked. */
const AGAIN_MS = 1100;

/**
 * Looks at every sandbox: all threads of its shims, of the shims' children (runc) and of the inits; further below only
 * processes that are themselves in D, or runc's. What is blocked for less than a second does not count.
 */
export async function findBlocked(
  host: Host,
  sandboxes: readonly Sandbox[],
  { firstLook, deadlineMs, tree = readProcessTree(host) }: FindOptions,
): Promise<BlockedBySandbox> {
  const wanted = new Map(sandboxes.map(sandbox => [sandbox, toLookAt(sandbox, tree)]));
  const processes = new Map([...wanted.values()].flat().map(process => [process.pid, process]));
  const ofOthers = await blockedByPid(host, [...processes.values()], deadlineMs);
  const looks = new Map(
    sandboxes.flatMap(sandbox => sandbox.shims).map(shim => [shim, lookAtShim(host, shim, firstLook)]),
  );
  const ofShims = await blockedInShims(host, looks);
  const blocked = new Map<Sandbox, readonly BlockedThread[]>();
  for (const [sandbox, own] of wanted) {
    const inShims = sandbox.shims.flatMap(shim => ofShims.get(shim) ?? []);
    blocked.set(sandbox, [...inShims, ...own.flatMap(({ pid }) => ofOthers.get(pid) ?? [])].sort(longestFirst));
  }
  return blocked;
}

/**
 * A thread that waits in vain for less than a second may do so in passing. It may as well be one that is woken now and then:
 * an unmount that waits for writeback is. So those are looked at once more.
 */
async function blockedInShims(
  host: Host,
  looks: ReadonlyMap<Shim, ProcessLook>,
): Promise<ReadonlyMap<Shim, readonly BlockedThread[]>> {
  const clocks = await clocksOf(host, [...looks.values()], { deadlineMs: CLOCKS_MS });
  const blocked = new Map([...looks].map(([shim, look]) => [shim, blockedThreads(look, { role: 'shim', clocks })]));
  const doubtful = [...looks].filter(([shim, look]) => {
    return blockedThreads(look, { role: 'shim', clocks, minSeconds: 0 }).length > (blocked.get(shim)?.length ?? 0);
  });
  if (doubtful.length === 0) return blocked;
  await sleep(AGAIN_MS);
  const again = doubtful.map(([shim, before]) => ({ shim, before, look: host.look(shim.pid) }));
  const now = await clocksOf(
    host,
    again.map(({ look }) => look),
    { deadlineMs: CLOCKS_MS },
  );
  for (const { shim, before, look } of again) {
    const same = parseStat(look.stat ?? '')?.startTicks === shim.startTicks;
    blocked.set(shim, same ? blockedThreads(look, { role: 'shim', clocks: now, before }) : []);
  }
  return blocked;
}

/** Some processes at a time: the texts of one thread are some 2 kB, and the inits of a node may have 40,000 threads. */
async function blockedByPid(
  host: Host,
  processes: readonly NodeProcess[],
  deadlineMs: number,
): Promise<ReadonlyMap<number, readonly BlockedThread[]>> {
  const untilMs = host.now().offsetMs + deadlineMs;
  const blocked = new Map<number, readonly BlockedThread[]>();
  for (let at = 0; at < processes.length; at += PER_CALL) {
    const some = processes.slice(at, at + PER_CALL);
    const leftMs = untilMs - host.now().offsetMs;
    const pids = some.map(({ pid }) => pid);
    const looks = leftMs > 0 ? await host.lookRisky(pids, { deadlineMs: leftMs, itemMs: ITEM_MS }) : [];
    const clocks = await clocksOf(host, looks, { deadlineMs: CLOCKS_MS });
    const looked = new Map(looks.map(look => [look.pid, look]));
    for (const process of some) blocked.set(process.pid, blockedIn(process, looked.get(process.pid), clocks));
  }
  return blocked;
}

function toLookAt({ shims, containers }: Sandbox, tree: ProcessTree): readonly NodeProcess[] {
  const children = shims.flatMap(({ pid }) => tree.childrenOf(pid));
  const inits = containers.flatMap(({ initPid }) => tree.processes.get(initPid ?? 0) ?? []);
  const below = [...shims.map(({ pid }) => pid), ...inits.map(({ pid }) => pid)].flatMap(tree.descendantsOf);
  const suspects = below.filter(({ state, comm }) => state === 'D' || roleOf(comm) === 'runc');
  const found = [...children, ...inits, ...suspects].filter(({ state }) => state !== 'Z' && state !== 'X');
  return [...new Map(found.map(process => [process.pid, process])).values()];
}

/** What the entry saw, unless it did not look at this very process, or not to the end. */
function lookAtShim(host: Host, { pid, startTicks }: Shim, firstLook: FirstLook | null): ProcessLook {
  const seen = firstLook?.shims.find(look => look.pid === pid && look.outcome === 'ok');
  const same = seen !== undefined && parseStat(seen.stat ?? '')?.startTicks === startTicks;
  return same ? seen : host.look(pid);
}

function blockedIn(
  { pid, comm, state }: NodeProcess,
  look: ProcessLook | undefined,
  clocks: CpuClocks,
): readonly BlockedThread[] {
  if (look !== undefined && look.threads.length > 0) return blockedThreads(look, { clocks });
  // Held inside execve its stat, wchan and stack hang as well: that it is in D is all there is to say.
  const silent = look === undefined || look.outcome === 'timeout';
  if (!silent || state !== 'D') return [];
  return [{ pid, tid: pid, comm, state, place: null, syscall: null, blockedForSeconds: null }];
}
