import type { Collector } from './collector.ts';
import { deadlineOf, evidenceOf } from './evidence-of.ts';

/**
 * Who holds which file lock: containerd's flock on meta.db, systemd's, a lock that a runc waits for. Last, not with the
 * rest of the node: reading it took 15 ms on a node with few locks, and it holds up every lock operation meanwhile.
 */
export const fileLocks: Collector = {
  name: 'file-locks',
  phase: 'linger',
  deadlineMs: 2000,
  async *collect(capture) {
    const [file] = await capture.host.readRisky([{ path: '/proc/locks' }], deadlineOf(capture));
    // A node on which nothing is locked is as good an answer as any.
    if (file !== undefined) yield evidenceOf('node/locks', file, 'this kernel has no file locks (CONFIG_FILE_LOCKING)');
  },
};
