/** What rules ask of a thread: whether it stands still, since when, and where in its stack it stands. */
import { formatDuration } from '../formats/duration.ts';
import { type Citation, cite } from './citation.ts';
import type { Frame, Thread } from './types/threads.ts';

export interface Standstill {
  /** How long it has not moved, at its last look. */
  readonly ageMs: number;
  /** Where that comes from, for people. */
  readonly ageFrom: string;
  /**
   * - `looks`: seen the same in two looks at least
   * - `clock`: one look, and the scheduler's clock alone: enough for `likely`
   * - `call`: it ran in between, and was in the very same call all the time (`inOneCall`)
   */
  readonly proof: 'looks' | 'clock' | 'call';
}

/** How long a thread has stood where it stands; null for one that moved, and for one seen once of which no clock tells. */
export function standstill(thread: Thread): Standstill | null {
  if (thread.moved === 'moved') return null;
  const { blockedForMs, seenForMs, tid } = thread;
  if (blockedForMs !== null && (thread.moved === 'never' || blockedForMs > 0)) {
    const ageFrom = `the scheduler's clock: thread ${tid} has not run for ${formatDuration(blockedForMs)}`;
    return { ageMs: blockedForMs, ageFrom, proof: thread.moved === 'never' ? 'looks' : 'clock' };
  }
  if (thread.moved === 'once') return null;
  const ageFrom = `thread ${tid} was the same in ${thread.seen} looks over ${formatDuration(seenForMs)}`;
  return { ageMs: seenForMs, ageFrom, proof: 'looks' };
}

/**
 * The same for a call that is made once and loops inside of the kernel (umount2, mount, fsync): a wait for writeback is woken now and
 * then to no avail. Not for read and write: whoever repeats them looks the same, and gets on.
 */
export function inOneCall(thread: Thread): Standstill | null {
  const stood = standstill(thread);
  const { looks, forMs } = thread.inSameCall;
  if (stood !== null || looks < 2) return stood;
  const ageFrom = `thread ${thread.tid} was in the same ${thread.call?.name ?? 'call'} in ${looks} looks over ${formatDuration(forMs)}`;
  return { ageMs: forMs, ageFrom, proof: 'call' };
}

/** In this system call, by name. */
export function isIn(thread: Thread, call: string): boolean {
  return thread.call?.name === call;
}

/** The innermost frame of this name, or that the expression fits; null where there is none, or no stack. */
export function frameOf(thread: Thread, symbol: string | RegExp): Frame | null {
  return thread.stack?.find(frame => fits(frame, symbol)) ?? null;
}

/**
 * Whether the stack has all of these, innermost first, others between them allowed:
 * `['ovl_sync_fs', 'generic_shutdown_super', 'cleanup_mnt']`.
 */
export function stackHas(thread: Pick<Thread, 'stack'>, symbols: readonly (string | RegExp)[]): boolean {
  let next = 0;
  for (const frame of thread.stack ?? []) {
    const symbol = symbols[next];
    if (symbol === undefined) break;
    if (fits(frame, symbol)) next += 1;
  }
  return next === symbols.length;
}

/** The innermost frame that names a function other than the scheduler's own: where it sleeps. */
export function sleepsIn(thread: Pick<Thread, 'stack' | 'wchan'>): string | null {
  const frame = thread.stack?.find(({ symbol }) => symbol !== null && !SCHEDULER.test(symbol));
  return frame?.symbol ?? thread.wchan;
}

/** arm64 before 5.17 has `__switch_to` on top of every stack. */
const SCHEDULER = /^(?:__switch_to|(?:__)?(?:schedule|io_schedule|schedule_timeout|preempt_schedule)(?:_\w+)?)$/;

/** A frame of a thread as evidence. */
export function citeFrame(thread: Thread, frame: Frame): Citation {
  return cite(thread.entry, frame.line, frame.text);
}

function fits({ symbol }: Frame, wanted: string | RegExp): boolean {
  if (symbol === null) return false;
  return typeof wanted === 'string' ? symbol === wanted : wanted.test(symbol);
}

/** The line of its system call, which stands below its heading. */
export function citeCall(thread: Thread): Citation {
  const heading = thread.cites.at(-1) ?? thread.cites[0];
  const { call } = thread;
  const text = call === null ? heading.text : `${call.number} ${call.args.join(' ')}`;
  return cite(heading.entry, heading.line === null ? null : heading.line + 1, text);
}

/** `thread 2631 in D in umount2 for 20.7 s, never moved`: as a step of the wait chain says it. */
export function threadWords(thread: Thread): string {
  const { tid, state, call, comm, role } = thread;
  const stood = standstill(thread);
  const who = role === 'shim' ? `thread ${tid}` : `${comm} ${tid}`;
  const where = call?.name ?? sleepsIn(thread) ?? 'an unknown place';
  const age = stood === null ? '' : ` for ${formatDuration(stood.ageMs)}`;
  return `${who} in ${state} in ${where}${age}${thread.moved === 'never' ? ', never moved' : ''}`;
}
