import { readdirSync } from 'node:fs';
import { monotonicMs, timesSince } from './clock.ts';
import { lookAt, threadsIn } from './look.ts';
import { errnoOf, outcomeOf } from './outcome.ts';
import type { FileResult, ProcessLook } from './port.ts';
import { readBytes, readText } from './proc-file.ts';

/**
 * What the main process may read itself, because it cannot hang (measured on 6.18 with a process held inside execve on
 * a stalled disk, and with one whose mmap_lock is held):
 * - `comm`, `status` and `children` of any task;
 * - `stat`, `wchan`, `sched`, `syscall`, `stack`, `cwd` of a task whose process has two threads or more. Inside execve a
 *   process has one, and holds the lock that these wait for;
 * - files of the whole node that take no sleeping lock.
 * `cmdline`, `environ`, `maps`, `cgroup`, `mountinfo`, `/proc/locks` and everything outside of /proc are for a probe.
 */
const OF_ANY_TASK = /^\/proc\/\d+\/(task\/\d+\/)?(comm|status|children)$/;
const OF_THREADED = /^\/proc\/(\d+)\/(task\/\d+\/)?(stat|wchan|sched|schedstat|syscall|stack)$/;
const OF_NODE =
  /^\/proc\/((self\/)?stat|self\/(comm|status|sched)|uptime|loadavg|version|meminfo|vmstat|diskstats|cmdline|pressure\/\w+|sys\/kernel\/[\w/]+)$/;

const SAFE_DIRECTORY = /^\/proc(\/\d+\/task|\/pressure|\/sys\/kernel)?$/;

const DEFAULT_MAX_BYTES = 1 << 20;

const UNSAFE = {
  outcome: 'error',
  detail: 'not read in the main process, where it could hang: readRisky is for it',
} as const;

/** Never throws. A path that could hang is refused with outcome `error`. */
export function readSafely(path: string, maxBytes: number = DEFAULT_MAX_BYTES): FileResult {
  const began = monotonicMs();
  const done = (result: Pick<FileResult, 'outcome' | 'detail'> & { readonly body?: Buffer }): FileResult => ({
    path,
    body: Buffer.alloc(0),
    ...result,
    ...timesSince(began),
  });
  const refusal = refusalOf(path);
  if (refusal !== null) return done(refusal);
  try {
    const { body, cut } = readBytes(path, maxBytes);
    if (cut) return done({ outcome: 'truncated', body, detail: `first ${maxBytes} bytes` });
    return done({ outcome: body.length === 0 ? 'empty' : 'ok', body });
  } catch (error) {
    return done(outcomeOf(errnoOf(error), path));
  }
}

function refusalOf(path: string): Pick<FileResult, 'outcome' | 'detail'> | null {
  if (OF_ANY_TASK.test(path) || OF_NODE.test(path)) return null;
  const pid = OF_THREADED.exec(path)?.[1];
  if (pid === undefined) return UNSAFE;
  const status = readText(`/proc/${pid}/status`);
  if (status.text === null) return outcomeOf(status.errno, path);
  return threadsIn(status.text) < 2 ? UNSAFE : null;
}

/** Names in a directory of /proc, numbers in rising order; empty when there is none, or when it could hang. */
export function listSafely(path: string): readonly string[] {
  if (!SAFE_DIRECTORY.test(path)) return [];
  try {
    return readdirSync(path).sort((a, b) => Number(a) - Number(b) || 0);
  } catch {
    return [];
  }
}

/** All threads of a process with two or more. */
export function lookSafely(pid: number): ProcessLook {
  return lookAt(pid, { safe: true });
}
