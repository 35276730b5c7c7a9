/** Threads that stand still: of the pod, and of those without whom nothing can be done for it. */
import type { Citation } from './citation.ts';
import { nameOf } from './exits.ts';
import type { Facts } from './facts.ts';
import type { Link, Part } from './rule.ts';
import { citeFrame, frameOf, type Standstill, standstill, threadWords } from './standstill.ts';
import type { Thread } from './types/threads.ts';
import { isUnderWay } from './under-way.ts';

/**
 * - `pod`: its shim, its runc, its processes
 * - `runtime`: containerd, dockerd, the kubelet: who waits for them waits with them
 * - `other`: anybody else on the node
 */
export type Whose = 'pod' | 'runtime' | 'other';

export interface Blocked {
  readonly thread: Thread;
  readonly stood: Standstill;
  readonly whose: Whose;
}

/** Threads of a Go program are all called like it; the kernel cuts at 15 characters. */
export const RUNTIME_COMM = /^(?:containerd|docker-containe|dockerd|kubelet|kubelite|k3s(?:-server|-agent)?|rke2|k0s)$/;

/** All threads that have not moved, wherever they wait: the pod's own by all looks, the node's in D by the sweep. Longest first. */
export function blockedThreads({ threads, nodeThreads }: Pick<Facts, 'threads' | 'nodeThreads'>): readonly Blocked[] {
  const own = threads?.all ?? [];
  const known = new Set(own.map(({ tid }) => tid));
  const others = nodeThreads?.blocked.filter(({ tid }) => !known.has(tid)) ?? [];
  return [...own.map(thread => blocked(thread, 'pod')), ...others.map(thread => blocked(thread, whoseOf(thread)))]
    .flat()
    .toSorted((a, b) => b.stood.ageMs - a.stood.ageMs);
}

function blocked(thread: Thread, whose: Whose): readonly Blocked[] {
  const stood = standstill(thread);
  return stood === null ? [] : [{ thread, stood, whose }];
}

function whoseOf({ comm, role }: Thread): Whose {
  if (role !== 'other') return 'pod';
  return RUNTIME_COMM.test(comm) ? 'runtime' : 'other';
}

/**
 * Of these the ones that the target waits for. A runtime that is merely slow holds up a pod of which something is to be done, and no
 * other; one that cannot go on at all (`always`) is everybody's stall. Who captured the node alone asked about everybody.
 */
export function concerning(
  all: readonly Blocked[],
  facts: Pick<Facts, 'target' | 'containers' | 'logs'>,
  runtime: 'always' | 'when asked' = 'when asked',
): readonly Blocked[] {
  if (facts.target.target.kind === 'node') return all;
  const counts = runtime === 'always' || isUnderWay(facts);
  return all.filter(({ whose }) => whose === 'pod' || (whose === 'runtime' && counts));
}

/**
 * Evidence that a thread is inside of one of these functions: the frame, or, where its stack could not be read, its wait channel.
 * Functions of locks (rwsem_down_*, mutex_lock) are in neither on most kernels: who waits for a lock stands in its caller.
 */
export function inside(thread: Thread, symbol: string | RegExp): Citation | null {
  const frame = frameOf(thread, symbol);
  if (frame !== null) return citeFrame(thread, frame);
  const { stack, wchan } = thread;
  if (wchan === null || (stack !== null && stack.length > 0)) return null;
  const fits = typeof symbol === 'string' ? wchan === symbol : symbol.test(wchan);
  return fits ? (thread.cites.at(-1) ?? thread.cites[0]) : null;
}

/** What a rule about where threads stand lacks where no stack was read, of the pod or of the node. */
export function lacksStacks({
  threads,
  nodeThreads,
}: Partial<Pick<Facts, 'threads' | 'nodeThreads'>>): readonly string[] {
  const any = [threads, nodeThreads].some(known => (known?.stacks ?? 'none') !== 'none');
  return any ? [] : ['kernel stacks'];
}

/** `thread 2631 of shim 2623`, `containerd (thread 6921)`, `dd 5531 in container app (c1c1c1c1c1c1)`: the subject of a sentence. */
export function whoIs(
  { thread, whose }: Pick<Blocked, 'thread' | 'whose'>,
  { containers }: Pick<Facts, 'containers'>,
): string {
  const { pid, tid, comm, role, container } = thread;
  if (whose === 'runtime') return `${comm} (thread ${tid})`;
  if (role === 'shim') return `thread ${tid} of shim ${pid}`;
  if (role === 'runc init') return `runc init ${pid}`;
  const of = containers?.find(({ id }) => id === container);
  return of === undefined ? `${comm} ${tid}` : `${comm} ${tid} of ${nameOf(of)}`;
}

/** `dd 5531 has`, `dd 5531 and 2 more have`: for sentences about those who wait. At least one. */
export function waitersHave([first, ...more]: readonly Blocked[], facts: Pick<Facts, 'containers'>): string {
  if (first === undefined) return 'nobody has';
  return more.length === 0 ? `${whoIs(first, facts)} has` : `${whoIs(first, facts)} and ${more.length} more have`;
}

/** What a step of the wait chain about this thread is about. */
export function partsOf({ thread, whose }: Pick<Blocked, 'thread' | 'whose'>): readonly Part[] {
  const { pid, tid } = thread;
  return whose === 'runtime' ? [`thread:${tid}`, `daemon:${pid}`] : [`thread:${tid}`];
}

/** More of them would be of no use to a reader. */
const SHOWN = 5;

/** One step per thread, each of which waits for the same; `because` says what for: `, for room in the log of XFS`. */
export function waitLinks(all: readonly Blocked[], waitsFor: Part | null, because = ''): readonly Link[] {
  return all.slice(0, SHOWN).map(blocked => ({
    says: threadWords(blocked.thread) + because,
    about: partsOf(blocked),
    waitsFor: waitsFor === null ? [] : [waitsFor],
  }));
}

/** The last look at each of the first `count`. */
export function citeThreads(all: readonly Blocked[], count = 3): readonly Citation[] {
  return all.slice(0, count).flatMap(({ thread }) => thread.cites.slice(-1));
}
