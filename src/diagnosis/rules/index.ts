/** Everything that a bundle is judged for, one kind of stall per file. Within a kind of evidence, causes before what follows from them. */
import type { AnyRule } from '../rule.ts';
import { overlayUmountSync } from './overlay-umount-sync.ts';
import { stateBehindDelete } from './state-behind-delete.ts';

export const rules: readonly AnyRule[] = [
  // the kernel: where a thread of the pod hangs
  overlayUmountSync,
  // the shim: who waits for whom
  stateBehindDelete,
];
