/** Everything that a bundle is judged for, one kind of stall per file. Within a kind of evidence, causes before what follows from them. */
import type { AnyRule } from '../rule.ts';
import { cgroupLeak } from './cgroup-leak.ts';
import { diskCapped } from './disk-capped.ts';
import { diskDead } from './disk-dead.ts';
import { elsewhere } from './elsewhere.ts';
import { ext4Journal } from './ext4-journal.ts';
import { freezer } from './freezer.ts';
import { fsFrozen } from './fs-frozen.ts';
import { fuseHang } from './fuse-hang.ts';
import { hungTask } from './hung-task.ts';
import { kernelWriteback } from './kernel-writeback.ts';
import { memoryThrottled } from './memory-throttled.ts';
import { mmapLock } from './mmap-lock.ts';
import { netns } from './netns.ts';
import { nfsHang } from './nfs-hang.ts';
import { oom } from './oom.ts';
import { overlayMountBlocked } from './overlay-mount-blocked.ts';
import { overlayUmountSync } from './overlay-umount-sync.ts';
import { pidnsNotEmpty } from './pidns-not-empty.ts';
import { pidsLimit } from './pids-limit.ts';
import { rootfsBusy } from './rootfs-busy.ts';
import { secondWaiter } from './second-waiter.ts';
import { stateBehindDelete } from './state-behind-delete.ts';
import { xfsLog } from './xfs-log.ts';

export const rules: readonly AnyRule[] = [
  // the kernel: where a thread of the pod hangs
  overlayUmountSync,
  overlayMountBlocked,
  pidnsNotEmpty,
  freezer,
  fuseHang,
  nfsHang,
  netns,
  mmapLock,
  rootfsBusy,
  secondWaiter,
  hungTask,
  // what they wait for: filesystems, their journals, the disk
  fsFrozen,
  xfsLog,
  ext4Journal,
  diskDead,
  diskCapped,
  memoryThrottled,
  // the shim: who waits for whom
  stateBehindDelete,
  // what is no wait by itself
  kernelWriteback,
  oom,
  pidsLimit,
  cgroupLeak,
  elsewhere,
];
