/** Who waits for a disk: the victims without whom a busy disk is nobody's stall. */
import { type Blocked, blockedThreads, concerning, inside } from './blocked.ts';
import type { Device, Facts, Thread } from './facts.ts';
import { placeOfBlocked } from './places.ts';
import { MIN_STALL_MS } from './rule.ts';

/** Inside of the block layer, of writeback, of a journal, or of a page that is read or written (block, fs, mm of kernels 3.10 to 6.18). */
const FOR_A_DISK =
  /^(?:rq_qos_wait|wbt_wait|blk_mq_get_tag|get_request|submit_bio_wait|blkdev_issue_flush|blk_execute_rq|wb_wait_for_completion|__writeback_inodes_sb_nr|sync_inodes_sb|wait_sb_inodes|wait_on_page_bit\w*|wait_on_page_writeback\w*|folio_wait_\w+|bit_wait_io|__?wait_on_buffer|wait_on_buffer|sleep_on_buffer|sleep_on_page|jbd2_\w+|start_this_handle|do_get_write_access|wait_transaction_locked|add_transaction_credits|xfs_buf_iowait|xfs_buf_lock|xlog_\w+|xfs_log_\w+|btrfs_\w{0,64}wait\w*|wait_current_trans|balance_dirty_pages\w*|__blkdev_direct_IO\w*|iomap_dio_rw|dio_\w+)$/;

/** These ask a server, not a disk, though they wait for pages too. */
const FOR_A_SERVER = /^(?:request_wait_answer|fuse_\w+|__fuse_\w+|nfs[a-z\d]*_\w+|rpc_\w+|cifs_\w+|ceph_\w+|p9_\w+)$/;

/** An fsync of containerd takes seconds on a loaded disk without anybody noticing. */
const RUNTIME_MIN_MS = 2 * MIN_STALL_MS;

/** Threads of the pod and of its runtime that have waited for this device long enough to be a stall. Longest first. */
export function waitingFor(
  device: Device,
  facts: Facts,
  runtime: 'always' | 'when asked' = 'when asked',
): readonly Blocked[] {
  return concerning(blockedThreads(facts), facts, runtime).filter(blocked => {
    const { thread, stood, whose } = blocked;
    if (thread.state !== 'D' || stood.ageMs < (whose === 'runtime' ? RUNTIME_MIN_MS : MIN_STALL_MS)) return false;
    return waitsForADisk(thread) && mayBeOn(device, blocked, facts);
  });
}

function waitsForADisk(thread: Thread): boolean {
  return inside(thread, FOR_A_DISK) !== null && inside(thread, FOR_A_SERVER) === null;
}

/** By the name of a kernel thread; else by where such a thread works. Unknown is not another device. */
function mayBeOn(device: Device, blocked: Blocked, facts: Facts): boolean {
  const named = deviceNamed(blocked.thread);
  if (named !== null) return named === device.name || named === device.number;
  const own = placeOfBlocked(blocked, facts)?.device ?? null;
  return own === null || own.name === device.name || own.below.includes(device.name);
}

/** `jbd2/loop0-8`, `kworker/u8:6+flush-7:0`, `kworker/u8:1+xfs-cil/loop0`, `xfsaild/dm-0`: names end at 15 characters in comm. */
export function deviceNamed({ comm }: Pick<Thread, 'comm'>): string | null {
  const journal = /^jbd2\/(.+?)(?:-\d*)?$/.exec(comm)?.[1];
  const flusher = /(?:^|\+)flush-(\d+:\d+)/.exec(comm)?.[1];
  const log = /(?:^|[+/])xfs[\w-]*\/([\w-]+)$/.exec(comm)?.[1];
  return journal ?? flusher ?? log ?? null;
}

/** Kernel threads in D that work for this device. */
export function workersOf(device: Device, facts: Facts): readonly Blocked[] {
  return blockedThreads(facts).filter(({ thread }) => {
    const named = deviceNamed(thread);
    return thread.state === 'D' && named !== null && (named === device.name || named === device.number);
  });
}

/** Devices that matter: what carries the pod or its runtime; all for a capture of the node alone. */
export function devicesThatMatter({ devices, target }: Pick<Facts, 'devices' | 'target'>): readonly Device[] {
  const all = devices?.all ?? [];
  if (target.target.kind === 'node') return all;
  return all.filter(({ roles }) => roles.some(role => role !== 'root filesystem'));
}

/** Without those below which another of them lies: of a partition and its disk, the disk. */
export function lowest(all: readonly Device[]): readonly Device[] {
  const names = new Set(all.map(({ name }) => name));
  return all.filter(({ below }) => !below.some(name => names.has(name)));
}

/** What a step of the wait chain about this device is about: it, what lies on it, and the filesystems right on those. */
export function diskParts(device: Device, { devices }: Pick<Facts, 'devices'>) {
  const above = devices?.all.filter(({ below }) => below.includes(device.name)) ?? [];
  return [device, ...above].flatMap(({ name, number }) => [`device:${name}` as const, `filesystem:${number}` as const]);
}
