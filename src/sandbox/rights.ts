import { EXIT, StallcapError } from '../errors.ts';
import type { Host } from '../host/port.ts';
import type { Inventory } from './types.ts';

/**
 * Which right is missing to see sandboxes at all, in words; null when it is none. The working directory of a shim is what
 * names its sandbox, and reading that link of another user's process needs CAP_SYS_PTRACE (proc(5), ptrace access mode).
 */
export function missingRight(host: Pick<Host, 'read'>, { gaps }: Inventory): string | null {
  const link = gaps.find(({ path, outcome }) => outcome === 'denied' && /^\/proc\/\d+\/cwd$/.test(path));
  if (link !== undefined) return `CAP_SYS_PTRACE, to read ${link.path}`;
  // Mounted with hidepid, /proc does not even show that process 1 exists.
  if (host.read('/proc/1/comm').outcome === 'gone') return 'root, since /proc hides the processes of others (hidepid)';
  return null;
}

/** @returns an error to throw: exit code 5, naming the right */
export function notPermitted(right: string): StallcapError {
  return new StallcapError(`Not permitted to see the sandboxes of this node: that needs ${right}.`, {
    code: 'not-permitted',
    exit: EXIT.notPermitted,
    next: ['Run it as root: sudo stallcap …'],
  });
}
