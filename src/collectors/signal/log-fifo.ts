import type { Shim } from '../../sandbox/types.ts';
import type { Descriptor } from './descriptors.ts';

/**
 * Is this link the fifo that the shim logs to? v2: `<bundle of the sandbox>/log`; a bundle that was deleted under the
 * shim was renamed to `.<id>` first, and its link ends in ` (deleted)`. v1: `<workdir>/shim.stdout.log`.
 * Compared by the end of the path: the link may be of another mount namespace.
 */
export function isShimLog(target: string, shim: Pick<Shim, 'id' | 'generation'>): boolean {
  const [name = '', directory = ''] = target
    .replace(/ \(deleted\)$/, '')
    .split('/')
    .reverse();
  const log = shim.generation === 'v1' ? 'shim.stdout.log' : 'log';
  return name === log && (directory === shim.id || directory === `.${shim.id}`);
}

/**
 * The shim's descriptor of its log fifo: 2 since containerd 1.5; before that, and in v1 shims, another one beside a
 * stderr on /dev/null. Null when it has none open.
 */
export function findLogFifo(
  descriptors: readonly Pick<Descriptor, 'fd' | 'target'>[],
  shim: Pick<Shim, 'id' | 'generation'>,
): Pick<Descriptor, 'fd' | 'target'> | null {
  const logs = descriptors.filter(({ target }) => isShimLog(target, shim));
  return logs.find(({ fd }) => fd === 2) ?? logs[0] ?? null;
}
