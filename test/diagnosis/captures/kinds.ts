/** The bundles in test/fixtures/bundles: how each is made. */
import { setTimeout as sleep } from 'node:timers/promises';
import { filesystemFrozen } from '../../lab/stalls/filesystem-frozen.ts';
import { mmapLockHeld } from '../../lab/stalls/mmap-lock-held.ts';
import { mountFrozen } from '../../lab/stalls/mount-frozen.ts';
import { mountFuseStopped } from '../../lab/stalls/mount-fuse-stopped.ts';
import { overlayUmountSync } from '../../lab/stalls/overlay-umount-sync.ts';
import type { Stall } from '../../lab/stalls/stall.ts';
import { diskDead } from './stalls/disk-dead.ts';
import { frozenCgroup } from './stalls/frozen-cgroup.ts';
import { pidNamespaceHeld } from './stalls/pid-namespace-held.ts';
import { secondUmount } from './stalls/second-umount.ts';
import { xfsLogFull } from './stalls/xfs-log-full.ts';

export interface Kind {
  make(): Promise<Stall & { readonly pod?: { readonly id: string } }>;
  /** Processes besides the pod's that the table keeps. */
  readonly processes?: string;
}

const LOOP = 'containerd|dd if';

export const KINDS: Readonly<Record<string, Kind>> = {
  'overlay-umount-sync': { make: overlayUmountSync },
  'overlay-mount-blocked': { make: mountFrozen },
  'second-waiter': { make: secondUmount, processes: 'mount -o remount' },
  'disk-dead': { make: diskDead, processes: LOOP },
  'fs-frozen': { make: filesystemFrozen },
  'fuse-hang': { make: mountFuseStopped },
  'mmap-lock': { make: mmapLockHeld, processes: 'mmap-hostage|\\[mmap-host' },
  'pidns-not-empty': { make: pidNamespaceHeld },
  freezer: { make: frozenCgroup },
  'xfs-log': { make: xfsLogFull, processes: 'mkdir' },
};

/** A stall is one from 5 s on. */
export const settle = () => sleep(7000);
