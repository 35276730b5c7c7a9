import process from 'node:process';
import { blockedForSeconds, type CpuClocks, NO_CLOCKS } from '../formats/proc/cpu-clocks.ts';
import { parseStack } from '../formats/proc/stack.ts';
import { parseStat } from '../formats/proc/stat.ts';
import { parseSyscall } from '../formats/proc/syscall.ts';
import { architectureOf, syscallName } from '../formats/proc/syscall-names.ts';
import { type Role, roleOf, waitsInVain } from '../formats/proc/waiting-places.ts';
import { wchanSymbol } from '../formats/proc/wchan.ts';
import type { ProcessLook, ThreadLook } from '../host/port.ts';

/** A thread that looks blocked, by one look. */
export interface BlockedThread {
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** Letter of /proc/<pid>/stat. Not always D: a wait for FUSE, or of runc for its child, is S. */
  readonly state: string;
  /** wchan, or the innermost frame of the stack where wchan tells nothing. */
  readonly place: string | null;
  /** 'umount2'; the number where the name is not known; null outside of a call, and where it could not be read. */
  readonly syscall: string | null;
  /**
   * For how long it has not run, or has been in the same call; null on a kernel without /proc/<pid>/sched, and where its
   * CPU's clock is not known.
   */
  readonly blockedForSeconds: number | null;
}

export interface BlockedOptions {
  /** Whose threads these are; default: by comm. */
  readonly role?: Role;
  /** A wait shorter than this is work: every reader of a disk is in D for moments. Default 1. */
  readonly minSeconds?: number;
  /**
   * An earlier look at the same process: a thread that was in the very same call then has not got out of it since, though
   * it may have been woken in between to no avail, as one that waits for writeback is.
   */
  readonly before?: ProcessLook;
  /** Of CPUs other than the sampler's. Default: none. */
  readonly clocks?: CpuClocks;
  /** `process.arch`, `uname -m`. Default: of this machine. */
  readonly machine?: string;
}

/**
 * The threads of one process that look blocked, longest first. What counts depends on whose they are: an idle shim waits
 * in few places, an application in any (waiting-places.ts). Without an age (no CONFIG_SCHED_DEBUG before 6.15) a shim's
 * or runc's thread counts at once, and an application's does not: there, one look cannot tell work from a stall.
 */
export function blockedThreads(look: ProcessLook, options: BlockedOptions = {}): readonly BlockedThread[] {
  const { role = roleOf(look.comm), minSeconds = 1, before, clocks = NO_CLOCKS, machine = process.arch } = options;
  const blocked = look.threads.flatMap(thread => {
    const stat = parseStat(thread.stat ?? '');
    if (stat === null) return [];
    const place = placeOf(thread);
    const seconds = longer(blockedForSeconds(thread, look.clock, clocks), inCallSince(thread, look, before));
    const longEnough = seconds === null ? role !== 'application' : seconds >= minSeconds;
    if (!longEnough || !waitsInVain({ role, state: stat.state, place })) return [];
    return [
      {
        ...{ pid: look.pid, tid: thread.tid, comm: stat.comm, state: stat.state, place },
        ...{ syscall: syscallOf(thread, machine), blockedForSeconds: seconds },
      },
    ];
  });
  return blocked.sort(longestFirst);
}

/** For sort; one without a time comes last. */
export function longestFirst(a: BlockedThread, b: BlockedThread): number {
  return (b.blockedForSeconds ?? 0) - (a.blockedForSeconds ?? 0);
}

/** Seconds; null when it was not in this call, with these arguments, at the look before. */
function inCallSince({ tid, syscall }: ThreadLook, look: ProcessLook, before: ProcessLook | undefined): number | null {
  const then = before?.threads.find(thread => thread.tid === tid)?.syscall?.trim();
  if (before === undefined || then === undefined || then !== syscall?.trim()) return null;
  return parseSyscall(then).kind === 'call' ? (look.offsetMs - before.offsetMs) / 1000 : null;
}

function longer(a: number | null, b: number | null): number | null {
  return a === null ? b : Math.max(a, b ?? 0);
}

function placeOf({ wchan, stack }: ThreadLook): string | null {
  return wchanSymbol(wchan) ?? parseStack(stack ?? '')[0]?.symbol ?? null;
}

function syscallOf({ syscall }: ThreadLook, machine: string): string | null {
  const call = parseSyscall(syscall ?? '');
  if (call.kind !== 'call') return null;
  const architecture = architectureOf(machine);
  return (architecture === null ? null : syscallName(call.number, architecture)) ?? String(call.number);
}
