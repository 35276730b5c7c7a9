import type { ProcessLook } from '../host/port.ts';
import { clocksOf } from '../sandbox/clocks-of-looks.ts';
import type { Shim } from '../sandbox/types.ts';
import type { Capture, Collector } from './collector.ts';
import { deadlineOf } from './evidence-of.ts';
import { shimFolder } from './shim-folder.ts';
import { sameProcess, threadsEvidence, unlessEnded } from './threads-evidence.ts';

const CLOCKS_MS = 300;

/** `<shim>/threads-1.txt`: the shim's threads as the entry saw them before anything else of the program was loaded. */
export const firstLook: Collector = {
  name: 'first-look',
  phase: 'first-look',
  deadlineMs: 3000,
  targets: ['sandbox'],
  fromEntry: true,
  async *collect(capture) {
    for (const shim of capture.shims) {
      const seen = seenAtEntry(capture, shim);
      const whole = seen !== null && seen.outcome !== 'truncated';
      const look = whole ? seen : completed(seen, await lookAtShim(capture, shim));
      // Bounded: what was seen is not to wait for a program that hangs.
      const clocks = await clocksOf(capture.host, [look], deadlineOf(capture, CLOCKS_MS));
      yield threadsEvidence(`${shimFolder(capture.shims, shim)}/threads-1.txt`, [look], clocks);
    }
  },
};

/**
 * All threads of a shim now. In this process, since nothing is faster and a Go program's own files cannot hang; a shim
 * that looks as if it had one thread alone may be inside execve, so it is left to a probe.
 */
export async function lookAtShim(capture: Capture, shim: Shim): Promise<ProcessLook> {
  const look = capture.host.look(shim.pid);
  if (look.outcome !== 'error') return unlessEnded(sameProcess(look, shim.startTicks));
  const deadline = deadlineOf(capture, 1500);
  const [risky] = await capture.host.lookRisky([shim.pid], deadline);
  return unlessEnded(sameProcess(risky ?? look, shim.startTicks));
}

/**
 * The entry has little time for each shim of a node with many, and on one that is short of CPU: threads that it left are
 * those of the later look.
 */
export function completed(seen: ProcessLook | null, later: ProcessLook): ProcessLook {
  if (seen === null) return later;
  const had = new Set(seen.threads.map(({ tid }) => tid));
  return {
    ...later,
    clock: seen.clock,
    threads: [...seen.threads, ...later.threads.filter(({ tid }) => !had.has(tid))],
    offsetMs: seen.offsetMs,
    durationMs: later.offsetMs + later.durationMs - seen.offsetMs,
  };
}

/** Null when the entry did not look at this very process: it matched another id, or the pid was used again. */
function seenAtEntry(capture: Capture, shim: Shim): ProcessLook | null {
  const look = capture.firstLook.shims.find(seen => seen.pid === shim.pid && seen.threads.length > 0);
  return look === undefined || sameProcess(look, shim.startTicks) !== look ? null : look;
}
