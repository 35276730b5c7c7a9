/** What a report must say of each bundle in test/fixtures/bundles: captures of real runs. */
import type { Expected } from '../../lab/eval/judged.ts';

export const CAPTURED: Readonly<Record<string, Expected>> = {
  'containerd-dead': { rule: 'containerd-stopped', atLeast: 'proved' },
  'containerd-restarted': 'silence',
  'containerd-stopped': { rule: 'containerd-stopped', atLeast: 'proved' },
  'create-timeout': { rule: ['overlay-mount-blocked', 'fs-frozen'], atLeast: 'proved' },
  'disk-dead': { rule: 'disk-dead', atLeast: 'proved' },
  'dockerd-stopped': { rule: 'containerd-stopped', atLeast: 'proved' },
  'exit-event-lost': { rule: 'exit-event-lost', atLeast: 'proved' },
  freezer: { rule: 'freezer', atLeast: 'proved' },
  'fs-frozen': { rule: 'fs-frozen', atLeast: 'proved' },
  'fuse-hang': { rule: 'fuse-hang', atLeast: 'proved' },
  healthy: 'silence',
  'limits-met': 'silence',
  'log-fifo-drained': { rule: 'containerd-stopped', atLeast: 'proved' },
  'log-fifo-full': { rule: 'containerd-stopped', atLeast: 'proved' },
  'mmap-lock': { rule: 'mmap-lock', atLeast: 'proved' },
  'overlay-mount-blocked': { rule: 'fs-frozen', atLeast: 'proved' },
  'overlay-umount-sync': { rule: 'overlay-umount-sync', atLeast: 'proved', chainEnd: 'disk-capped' },
  'overlay-umount-sync-cgroup2': { rule: 'overlay-umount-sync', atLeast: 'proved', chainEnd: 'disk-capped' },
  'pidns-not-empty': { rule: 'pidns-not-empty', atLeast: 'proved' },
  // Who holds it open was not captured.
  'rootfs-busy': { rule: 'rootfs-busy', atLeast: 'likely' },
  'runc-create-held': { rule: 'runc-stuck', atLeast: 'proved' },
  'runc-delete-held': { rule: 'runc-stuck', atLeast: 'proved' },
  'runc-start-held': { rule: 'runc-stuck', atLeast: 'proved' },
  'second-waiter': { rule: 'overlay-umount-sync', atLeast: 'proved', chainEnd: 'disk-capped' },
  'shim-leaked': 'silence',
  'shim-stopped': { rule: 'shim-wedged', atLeast: 'proved' },
  'somebody-syncs': 'silence',
  'state-behind-delete': { rule: 'overlay-umount-sync', atLeast: 'proved', chainEnd: 'disk-capped' },
  'stdio-drain': { rule: 'stdio-drain', atLeast: 'likely' },
  'umount-delayed': { rule: 'delete-timeout', atLeast: 'proved' },
  // The disk below is dead as well; that was seen for less long.
  'xfs-log': { rule: ['disk-dead', 'xfs-log'], atLeast: 'likely', chainEnd: 'disk-dead' },
};
