import { setTimeout as sleep } from 'node:timers/promises';
import { parseStat } from '../../formats/proc/stat.ts';
import { architectureOf, syscallName } from '../../formats/proc/syscall-names.ts';
import type { Host, ProcessLook } from '../../host/port.ts';
import type { RuntimeDaemon, Shim } from '../../sandbox/types.ts';
import { reportsTo } from '../runtime-places.ts';
import { type Descriptor, descriptorsOf } from './descriptors.ts';
import { isShimLog } from './log-fifo.ts';
import { threadStates, whySignalWouldPend } from './thread-states.ts';

/** The containerd that should copy the shim's log into its own. */
export interface ContainerdSide {
  readonly daemon: RuntimeDaemon | null;
  readonly looks: readonly ProcessLook[];
  /** Null when they could not be read. */
  readonly descriptors: readonly Descriptor[] | null;
}

/** More than one look only where the first showed what may pass by itself: a write is blocked when it stays. */
const LOOKS = 3;
const BETWEEN_MS = 40;
const DESCRIPTORS_MS = 800;

/**
 * Finds the containerd of this shim: by the address on the shim's command line, or the state directory; else the one that
 * holds the shim's fifo open, for an address that could not be read.
 */
export async function readContainerdSide(
  host: Host,
  shim: Shim,
  daemons: readonly RuntimeDaemon[],
): Promise<ContainerdSide> {
  const all = daemons.filter(daemon => daemon.kind === 'containerd' && isAlive(host, daemon));
  const named = all.filter(daemon => reportsTo(shim, daemon));
  const candidates = named.length > 0 ? named : all;
  const descriptors = await descriptorsOf(
    host,
    candidates.map(daemon => daemon.pid),
    DESCRIPTORS_MS,
  );
  const holding = descriptors.findIndex(own => own !== null && holdsLog(own, shim));
  const index = named.length > 0 ? Math.max(holding, 0) : holding;
  const daemon = candidates[index];
  if (daemon === undefined) return { daemon: null, looks: [], descriptors: null };
  return { daemon, looks: await lookUntilFree(host, daemon.pid), descriptors: descriptors[index] ?? null };
}

/** Null when a containerd has the shim's fifo open, as far as can be told; else in words why nobody reads it. */
export function whyNoReader({ daemon, descriptors }: ContainerdSide, shim: Shim): string | null {
  if (daemon === null) return `no containerd serves ${shim.address ?? shim.state}`;
  if (descriptors === null || holdsLog(descriptors, shim)) return null;
  return `containerd ${daemon.pid} does not have the shim's fifo open`;
}

/** Null when containerd runs; else in words why it reads nothing: stopped, or frozen. */
export function whyHalted({ daemon, looks }: ContainerdSide): string | null {
  const pending = looks.map(whySignalWouldPend);
  const halted = pending.length > 0 && pending.every(why => why !== null);
  return halted ? `containerd ${daemon?.pid}: ${pending.at(-1)}` : null;
}

/** Null when what containerd has read comes out of it again; else who of its threads hangs in writing it. */
export function whyNotWriting({ daemon, looks }: Pick<ContainerdSide, 'daemon' | 'looks'>): string | null {
  const [first, ...later] = looks.map(blockedWriters);
  for (const [tid, { place, words }] of first ?? [])
    if (later.length > 0 && later.every(writers => writers.get(tid)?.place === place))
      return `${daemon?.kind ?? 'containerd'} ${daemon?.pid}: ${words}`;
  return null;
}

function holdsLog(descriptors: readonly Descriptor[], shim: Shim): boolean {
  return descriptors.some(({ target, reads }) => reads && isShimLog(target, shim));
}

export async function lookUntilFree(host: Host, pid: number): Promise<readonly ProcessLook[]> {
  const looks = [host.look(pid)];
  const held = (look: ProcessLook) => blockedWriters(look).size > 0 || whySignalWouldPend(look) !== null;
  while (looks.length < LOOKS && looks.every(held)) {
    await sleep(BETWEEN_MS);
    looks.push(host.look(pid));
  }
  return looks;
}

const WRITES: ReadonlySet<string> = new Set(['write', 'writev', 'pwrite64', 'sendto', 'sendmsg']);

/** Threads that sit in a write to descriptor 1 or 2. */
function blockedWriters(look: ProcessLook): ReadonlyMap<number, { readonly place: string; readonly words: string }> {
  const architecture = architectureOf(process.arch);
  const writers = new Map<number, { place: string; words: string }>();
  for (const { tid, state, call } of threadStates(look)) {
    if (state === 'R' || call.kind !== 'call' || architecture === null) continue;
    const name = syscallName(call.number, architecture);
    const fd = Number(call.args[0]);
    if (name === null || !WRITES.has(name) || (fd !== 1 && fd !== 2)) continue;
    writers.set(tid, {
      place: JSON.stringify(call),
      words: `thread ${tid} is blocked in ${name} to descriptor ${fd} (${state})`,
    });
  }
  return writers;
}

/** A daemon that died since the inventory was made reads nothing; its pid may be somebody else's by now. */
function isAlive(host: Pick<Host, 'read'>, daemon: RuntimeDaemon): boolean {
  const file = host.read(`/proc/${daemon.pid}/stat`);
  if (file.outcome === 'gone') return false;
  const stat = parseStat(file.body.toString());
  return stat === null || (stat.startTicks === daemon.startTicks && stat.state !== 'Z' && stat.state !== 'X');
}
