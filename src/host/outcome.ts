import { constants } from 'node:os';
import type { Outcome } from './port.ts';

/** The name of an error's errno ('ENOENT'), or the error's message when it has none. */
export function errnoOf(error: unknown): string {
  const { code, errno, message } = error as { code?: unknown; errno?: unknown; message?: unknown };
  // libuv has no name for some (EDQUOT, ESTALE): `UNKNOWN`, and the number.
  if (code === 'UNKNOWN' && typeof errno === 'number') return nameOf(-errno) ?? `errno ${-errno}`;
  return typeof code === 'string' ? code : String(message ?? error);
}

function nameOf(errno: number): string | undefined {
  return Object.entries(constants.errno).find(([, number]) => number === errno)?.[0];
}

/** What an errno says about a piece of evidence. `path` only helps to name the right that is missing. */
export function outcomeOf(errno: string, path: string): { readonly outcome: Outcome; readonly detail: string } {
  if (errno === 'ENOENT' || errno === 'ESRCH') return { outcome: 'gone', detail: errno };
  if (errno === 'EACCES' || errno === 'EPERM')
    return { outcome: 'denied', detail: `${errno}: needs ${rightFor(path, errno)}` };
  return { outcome: 'error', detail: errno };
}

/** The same of a connection to a socket, for which one has to be able to write to it: unix(7). */
export function connectOutcomeOf(
  errno: string,
  socket: string,
): { readonly outcome: Outcome; readonly detail: string } {
  if (errno === 'ECONNREFUSED') return { outcome: 'gone', detail: `${errno}: nobody listens at ${socket}` };
  const { outcome, detail } = outcomeOf(errno, socket);
  return { outcome, detail: outcome === 'denied' ? `${errno}: connecting needs CAP_DAC_OVERRIDE` : detail };
}

const TRACED = /^\/proc\/[^/]+(?:\/task\/\d+)?\/(stack|syscall)$/;

/**
 * Which right opens a file: capabilities(7). stack asks for CAP_SYS_ADMIN first (EACCES), then like syscall whether the reader
 * may attach to the task (EPERM; kernel fs/proc/base.c lock_trace), which Yama can forbid to root as well.
 */
function rightFor(path: string, errno: string): string {
  const [, traced] = TRACED.exec(path) ?? [];
  if (traced !== undefined && errno === 'EPERM') return 'CAP_SYS_PTRACE, and kernel.yama.ptrace_scope below 3';
  if (traced === 'stack') return 'CAP_SYS_ADMIN';
  if (/^\/proc\/(\d+|self)\//.test(path)) return 'CAP_SYS_PTRACE';
  if (path === '/dev/kmsg') return 'CAP_SYSLOG';
  return 'CAP_DAC_READ_SEARCH';
}
