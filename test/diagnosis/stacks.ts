/**
 * Kernel stacks, as /proc/<pid>/stack has them. Those without a remark are from captures in test/fixtures (6.18); the others were
 * written by hand after public reports, with the names of the kernels they are from.
 */
import { callOf } from './facts-of.ts';

export const UMOUNT_SYNC = `[<0>] wb_wait_for_completion+0x5a/0x90
[<0>] __writeback_inodes_sb_nr+0x9f/0xd0
[<0>] sync_filesystem+0x31/0xa0
[<0>] ovl_sync_fs+0x4f/0x70 [overlay]
[<0>] sync_filesystem+0x7e/0xa0
[<0>] generic_shutdown_super+0x26/0x130
[<0>] kill_anon_super+0x12/0x40
[<0>] deactivate_locked_super+0x2f/0xb0
[<0>] cleanup_mnt+0xb4/0x140
[<0>] task_work_run+0x59/0x90`;

/** The same umount behind a writer of the superblock's lock: the functions of locks are in no stack of 6.18. */
export const UMOUNT_BEHIND_LOCK = `[<0>] ovl_sync_fs+0x47/0x70 [overlay]
[<0>] sync_filesystem+0x7e/0xa0
[<0>] generic_shutdown_super+0x26/0x130
[<0>] cleanup_mnt+0xb4/0x140`;

/** By hand: 5.4, which shows them. */
export const UMOUNT_BEHIND_LOCK_5_4 = `[<0>] rwsem_down_read_slowpath+0x23b/0x4a0
[<0>] ovl_sync_fs+0x47/0x70 [overlay]
[<0>] sync_filesystem+0x7e/0xa0
[<0>] cleanup_mnt+0xb4/0x140`;

/** By hand: sync(1) on 5.15. */
export const SOMEBODY_SYNCS = `[<0>] wb_wait_for_completion+0x5a/0x90
[<0>] sync_inodes_sb+0xd6/0x2a0
[<0>] ovl_sync_fs+0x4f/0x70 [overlay]
[<0>] iterate_supers+0x8c/0xf0
[<0>] ksys_sync+0x40/0xb0
[<0>] __do_sys_sync+0xe/0x20`;

/** By hand: a worker that ends the writeback of a cgroup that was removed. */
export const CSS_FREE = `[<0>] wb_wait_for_completion+0x5a/0x90
[<0>] cgwb_release_workfn+0x6a/0x110
[<0>] css_free_rwork_fn+0x4e/0x3a0
[<0>] process_one_work+0x18c/0x350`;

export const MOUNT_FROZEN = `[<0>] percpu_rwsem_wait+0x15f/0x1d0
[<0>] mnt_want_write+0x96/0xc0
[<0>] ovl_fill_super+0x3bf/0x1860 [overlay]
[<0>] get_tree_nodev+0x6d/0xa0
[<0>] vfs_get_tree+0x25/0xe0
[<0>] fc_mount+0x12/0xa0
[<0>] path_mount+0x3ea/0xb70
[<0>] __x64_sys_mount+0x121/0x150`;

export const RENAME_FROZEN = `[<0>] percpu_rwsem_wait+0x15f/0x1d0
[<0>] mnt_want_write+0x96/0xc0
[<0>] do_renameat2+0x19a/0x520
[<0>] __x64_sys_renameat+0x7c/0xd0`;

/** By hand: 3.10. */
export const WRITE_FROZEN_3_10 = `[<ffffffff811f5c15>] __sb_start_write+0xd5/0x110
[<ffffffff81213d14>] mnt_want_write+0x24/0x50
[<ffffffff811fa5c7>] do_last+0x1e7/0x12c0
[<ffffffff811fcf8d>] path_openat+0xcd/0x5a0
[<ffffffffffffffff>] 0xffffffffffffffff`;

/** By hand: a write to cgroup.procs waits for a fork of somebody, in the same kind of lock. */
export const CGROUP_ATTACH = `[<0>] percpu_rwsem_wait+0x15f/0x1d0
[<0>] percpu_down_write+0x6a/0x150
[<0>] cgroup_procs_write_start+0x8a/0x170
[<0>] __cgroup_procs_write+0x5c/0x180
[<0>] kernfs_fop_write_iter+0x12e/0x1c0
[<0>] vfs_write+0x2a1/0x420`;

export const FSYNC_THROTTLED = `[<0>] rq_qos_wait+0xad/0x160
[<0>] wbt_wait+0xb0/0x110
[<0>] blk_mq_submit_bio+0x74e/0x780
[<0>] ext4_io_submit+0x20/0x40
[<0>] do_writepages+0xcf/0x170
[<0>] file_write_and_wait_range+0x3d/0xc0
[<0>] ext4_sync_file+0xa0/0x2d0
[<0>] do_fsync+0x3b/0xa0`;

export const JBD2_COMMIT = `[<0>] jbd2_journal_commit_transaction+0x138a/0x1e10
[<0>] kjournald2+0xc7/0x340
[<0>] kthread+0xf8/0x220`;

export const WAITS_FOR_JOURNAL = `[<0>] do_get_write_access+0x277/0x3d0
[<0>] jbd2_journal_get_write_access+0x95/0xd0
[<0>] ext4_reserve_inode_write+0x71/0x120
[<0>] ext4_dirty_inode+0x57/0x90
[<0>] touch_atime+0xf3/0x120
[<0>] iterate_dir+0x188/0x2a0`;

export const XFS_LOG_FULL = `[<0>] xlog_grant_head_wait+0x5a/0x250
[<0>] xlog_grant_head_check+0xf2/0x120
[<0>] xfs_log_reserve+0xa2/0x1b0
[<0>] xfs_trans_alloc+0x115/0x340
[<0>] xfs_create+0x130/0x3f0
[<0>] vfs_mkdir+0x1a4/0x270`;

/** By hand: a read of metadata from a slow disk. */
export const XFS_READS = `[<0>] xfs_buf_iowait+0x22/0xd0 [xfs]
[<0>] xfs_buf_read_map+0x120/0x2a0 [xfs]
[<0>] xfs_trans_read_buf_map+0x120/0x3a0 [xfs]
[<0>] xfs_imap_to_bp+0x6a/0x90 [xfs]`;

export const FUSE_STAT = `[<0>] request_wait_answer+0x151/0x210
[<0>] __fuse_simple_request+0x120/0x330
[<0>] fuse_do_getattr+0xd6/0x2a0
[<0>] vfs_fstatat+0x70/0x90`;

/** By hand: 4.18, a stat on a hard mount. */
export const NFS_STAT = `[<0>] rpc_wait_bit_killable+0x24/0x40 [sunrpc]
[<0>] __rpc_execute+0xdf/0x350 [sunrpc]
[<0>] rpc_run_task+0x109/0x150 [sunrpc]
[<0>] nfs4_call_sync_sequence+0x63/0xa0 [nfsv4]
[<0>] nfs4_proc_getattr+0x6a/0x110 [nfsv4]
[<0>] __nfs_revalidate_inode+0xb8/0x2b0 [nfs]`;

export const REFRIGERATOR = `[<0>] __refrigerator+0xac/0xd0
[<0>] get_signal+0x5c0/0x840
[<0>] arch_do_signal_or_restart+0x26/0x250`;

/** By hand: v2. */
export const FREEZER_TRAP = `[<0>] do_freezer_trap+0x3c/0x60
[<0>] get_signal+0x6f0/0x8f0
[<0>] arch_do_signal_or_restart+0x26/0x250`;

export const ZAP_PID_NS = `[<0>] do_wait+0x53/0x120
[<0>] kernel_wait4+0x9c/0x140
[<0>] zap_pid_ns_processes+0x103/0x190
[<0>] do_exit+0xa6c/0xab0
[<0>] do_group_exit+0x29/0xb0
[<0>] get_signal+0x83c/0x840`;

export const MMAP_BEHIND_LOCK = `[<0>] vm_mmap_pgoff+0xe0/0x210
[<0>] do_syscall_64+0x71/0x280`;

export const REMOTE_FAULT = `[<0>] filemap_fault+0xa0e/0x1650
[<0>] __do_fault+0x34/0xd0
[<0>] handle_mm_fault+0xd0/0x310
[<0>] get_user_pages_remote+0xee/0x440
[<0>] __access_remote_vm+0xd0/0x3b0
[<0>] mem_rw+0x1c4/0x2d0`;

/** By hand: 5.15. */
export const COPY_NET_NS = `[<0>] copy_net_ns+0xf9/0x270
[<0>] create_new_namespaces+0x118/0x2e0
[<0>] unshare_nsproxy_namespaces+0x5c/0xb0
[<0>] ksys_unshare+0x16f/0x3a0`;

/** By hand: 5.15. */
export const OVER_MEMORY_HIGH = `[<0>] mem_cgroup_handle_over_high+0x1a6/0x210
[<0>] exit_to_user_mode_prepare+0x152/0x190
[<0>] syscall_exit_to_user_mode+0x2f/0x50`;

export const GO_IDLE = `[<0>] futex_do_wait+0x46/0x90
[<0>] __futex_wait+0x8a/0x100
[<0>] do_futex+0xfd/0x250`;

export const UMOUNT2 = callOf('umount2', 166, '0xc000300640');
export const MOUNT = callOf('mount', 165, '0xc000208058');
