/** The bundles in test/fixtures/bundles: how each is made. */
import { setTimeout as sleep } from 'node:timers/promises';
import { filesystemFrozen } from '../../lab/stalls/filesystem-frozen.ts';
import { mmapLockHeld } from '../../lab/stalls/mmap-lock-held.ts';
import { mountFrozen } from '../../lab/stalls/mount-frozen.ts';
import { overlayUmountSync } from '../../lab/stalls/overlay-umount-sync.ts';
import { rootfsInUse } from '../../lab/stalls/rootfs-in-use.ts';
import type { Stall } from '../../lab/stalls/stall.ts';
import { umountDelayed } from '../../lab/stalls/umount-delayed.ts';
import { diskDead } from './stalls/disk-dead.ts';
import { frozenCgroup } from './stalls/frozen-cgroup.ts';
import { fuseVolume } from './stalls/fuse-volume.ts';
import { healthy } from './stalls/healthy.ts';
import { limitsMet } from './stalls/limits-met.ts';
import { pidNamespaceHeld } from './stalls/pid-namespace-held.ts';
import { secondUmount } from './stalls/second-umount.ts';
import { somebodySyncs } from './stalls/somebody-syncs.ts';
import { stateBehindDelete } from './stalls/state-behind-delete.ts';
import { xfsLogFull } from './stalls/xfs-log-full.ts';

export interface Kind {
  make(): Promise<Stall & { readonly pod?: { readonly id: string } }>;
  /** Processes besides the pod's that the table keeps. */
  readonly processes?: string;
  /** Names of the threads in D that are kept: all without it. */
  readonly blocked?: RegExp;
  /** Lines of the kernel's log, and of containerd's, that are kept: none without it. */
  readonly kernel?: RegExp;
  readonly log?: RegExp;
  /** Entries that are kept whole, and that are left out. */
  readonly keep?: RegExp;
  readonly drop?: RegExp;
  /** More arguments of grab. */
  readonly args?: readonly string[];
  /** How long it has lasted when it is captured, if not 7 s. */
  readonly settleMs?: number;
}

/** What containerd says of containers and about trouble; no dump, no plugin that it loads. */
const LOG =
  /^(?!.*(?:goroutine stack dump|plugin))(?=.*(?:level=(?:error|warning)|Container|Sandbox|TaskExit|starting containerd|booted))/;

const LOOP = 'containerd|dd if';

export const KINDS: Readonly<Record<string, Kind>> = {
  'overlay-umount-sync': { make: overlayUmountSync },
  'overlay-mount-blocked': { make: mountFrozen },
  'second-waiter': { make: secondUmount, processes: 'mount -o remount' },
  'disk-dead': { make: diskDead, processes: LOOP },
  'fs-frozen': { make: filesystemFrozen },
  'fuse-hang': { make: fuseVolume, processes: 'bindfs' },
  'mmap-lock': { make: mmapLockHeld, processes: 'mmap-hostage|\\[mmap-host', blocked: /^mmap-host/ },
  'pidns-not-empty': { make: pidNamespaceHeld, processes: 'dd if=/volume' },
  freezer: { make: frozenCgroup },
  healthy: { make: healthy, log: LOG },
  'somebody-syncs': { make: somebodySyncs, processes: 'sync -f', log: LOG },
  'state-behind-delete': { make: stateBehindDelete, log: LOG },
  'umount-delayed': { make: umountDelayed, processes: 'strace', log: LOG },
  'limits-met': { make: limitsMet, kernel: /oom|Killed process|fork rejected/i, drop: /^shim\/goroutines/ },
  'rootfs-busy': { make: rootfsInUse, processes: 'sleep 3600', log: LOG },
  'xfs-log': { make: xfsLogFull, blocked: /^(?:mkdir|kworker|xfs|loop)/ },
};

/** A stall is one from 5 s on. */
export const settle = (ms = 7000) => sleep(ms);
