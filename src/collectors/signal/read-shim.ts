import { setTimeout as sleep } from 'node:timers/promises';
import { architectureOf } from '../../formats/proc/syscall-names.ts';
import type { FileResult, Host, ProcessLook } from '../../host/port.ts';
import type { Shim } from '../../sandbox/types.ts';
import type { ShimReading } from './guards.ts';
import { whySignalWouldPend } from './thread-states.ts';
import { unstoppableThreads } from './unstoppable-threads.ts';

/** What passes by itself (a lock held for a moment, a tracer at a stop) is gone by the third look. */
const LOOKS = 3;
const BETWEEN_MS = 30;
/** cmdline is the one file here that hangs in the field; it may not hold up the signal for longer. */
const ITEM_MS = 400;

/** All that the guards judge, the threads last. */
export async function readShim(host: Host, shim: Shim): Promise<ShimReading> {
  const at = (name: string) => `/proc/${shim.pid}/${name}`;
  const [exe = unread(at('exe')), stderr = unread(at('fd/2')), cmdline = unread(at('cmdline'))] = await host.readRisky(
    [{ path: at('exe'), what: 'link' }, { path: at('fd/2'), what: 'link' }, { path: at('cmdline') }],
    { deadlineMs: 3 * ITEM_MS, itemMs: ITEM_MS },
  );
  return {
    shim,
    looks: await lookUntilClear(host, shim.pid),
    exe,
    stderr,
    cmdline,
    architecture: architectureOf(process.arch),
  };
}

/** One look where nothing speaks against the signal; else up to three, the guards judge what stays. */
export async function lookUntilClear(host: Host, pid: number): Promise<readonly [ProcessLook, ...ProcessLook[]]> {
  const looks: [ProcessLook, ...ProcessLook[]] = [host.look(pid)];
  while (looks.length < LOOKS && looks.every(speaksAgainst)) {
    await sleep(BETWEEN_MS);
    looks.push(host.look(pid));
  }
  return looks;
}

function speaksAgainst(look: ProcessLook): boolean {
  return whySignalWouldPend(look) !== null || unstoppableThreads([look], architectureOf(process.arch)).length > 0;
}

function unread(path: string): FileResult {
  return { path, outcome: 'timeout', body: Buffer.alloc(0), detail: 'not read in time', offsetMs: 0, durationMs: 0 };
}
