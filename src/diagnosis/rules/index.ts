/** Everything that a bundle is judged for, one kind of stall per file. Within a kind of evidence, causes before what follows from them. */
import type { AnyRule } from '../rule.ts';
import { boltBehindSync } from './bolt-behind-sync.ts';
import { cgroupLeak } from './cgroup-leak.ts';
import { cniBlamed } from './cni-blamed.ts';
import { containerdLock } from './containerd-lock.ts';
import { containerdStopped } from './containerd-stopped.ts';
import { createHoldsLock } from './create-holds-lock.ts';
import { createTimeout } from './create-timeout.ts';
import { deleteTimeout } from './delete-timeout.ts';
import { diskCapped } from './disk-capped.ts';
import { diskDead } from './disk-dead.ts';
import { elsewhere } from './elsewhere.ts';
import { exitEventLost } from './exit-event-lost.ts';
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
import { restartWarning } from './restart-warning.ts';
import { rootfsBusy } from './rootfs-busy.ts';
import { runcStuck } from './runc-stuck.ts';
import { runtimeMismatch } from './runtime-mismatch.ts';
import { secondWaiter } from './second-waiter.ts';
import { shimDead } from './shim-dead.ts';
import { shimLeaked } from './shim-leaked.ts';
import { shimMissedExit } from './shim-missed-exit.ts';
import { shimWedged } from './shim-wedged.ts';
import { stateBehindDelete } from './state-behind-delete.ts';
import { statusLag } from './status-lag.ts';
import { stdioDrain } from './stdio-drain.ts';
import { systemdDbus } from './systemd-dbus.ts';
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
  // who should act, and is stopped, dead or held
  containerdStopped,
  shimWedged,
  shimDead,
  runcStuck,
  // the shim: who waits for whom
  createHoldsLock,
  stateBehindDelete,
  stdioDrain,
  shimMissedExit,
  // containerd: its database, its locks, what it has started
  boltBehindSync,
  containerdLock,
  cniBlamed,
  systemdDbus,
  // what is seen of it from outside
  exitEventLost,
  deleteTimeout,
  createTimeout,
  runtimeMismatch,
  statusLag,
  // what is no wait by itself
  restartWarning,
  shimLeaked,
  kernelWriteback,
  oom,
  pidsLimit,
  cgroupLeak,
  elsewhere,
];
