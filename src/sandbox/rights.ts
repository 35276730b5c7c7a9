import { EXIT, StallcapError } from '../errors.ts';
import { parseStatus } from '../formats/proc/status.ts';
import type { Host } from '../host/port.ts';
import type { Gap } from './reads.ts';
import type { Inventory } from './types.ts';

/**
 * Which right is missing to see all sandboxes, in words; null when it is none. A shim that could not be named, or a bundle
 * that could not be read, may be the one that is meant: without it nothing may be called unknown, or without a shim.
 */
export function missingRight(host: Pick<Host, 'read'>, inventory: Inventory): string | null {
  // Mounted with hidepid, /proc does not even show that process 1 exists.
  if (host.read('/proc/1/comm').outcome === 'gone') return 'root, since /proc hides the processes of others (hidepid)';
  const denied = inventory.gaps.filter(({ outcome }) => outcome === 'denied');
  const gap = denied.find(unnamedShim(inventory)) ?? denied.find(unreadBundle(inventory));
  if (gap === undefined) return null;
  const uid = parseStatus(host.read('/proc/self/status').body.toString('utf8')).uid[1];
  if (uid !== 0) return `root, to read ${gap.path}`;
  return `${gap.path.startsWith('/proc/') ? 'CAP_SYS_PTRACE' : 'CAP_DAC_READ_SEARCH'}, to read ${gap.path}`;
}

/** The link that names a shim's bundle is open to its own user, and to CAP_SYS_PTRACE (proc(5), ptrace access mode). */
function unnamedShim({ sandboxes }: Inventory) {
  const named = new Set(sandboxes.flatMap(({ shims }) => shims.map(({ pid }) => `/proc/${pid}/cwd`)));
  return ({ path }: Gap) => /^\/proc\/\d+\/cwd$/.test(path) && !named.has(path);
}

/** Bundle directories have mode 0700. */
function unreadBundle({ sandboxes }: Inventory) {
  const bundles = new Set(
    sandboxes.flatMap(({ containers }) => containers.map(({ bundle }) => `${bundle}/config.json`)),
  );
  return ({ path }: Gap) => bundles.has(path);
}

/** @returns an error to throw: exit code 5, naming the right */
export function notPermitted(right: string): StallcapError {
  return new StallcapError(`Not permitted to see the sandboxes of this node: that needs ${right}.`, {
    code: 'not-permitted',
    exit: EXIT.notPermitted,
    // Who lacks a capability is root already: in a container, as a rule.
    next: [
      right.startsWith('CAP_')
        ? 'In a pod: securityContext.privileged: true. See what else is missing: stallcap doctor'
        : 'Run it as root: sudo stallcap …',
    ],
  });
}
