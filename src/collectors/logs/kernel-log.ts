import type { Collector } from '../collector.ts';
import { deadlineOf, evidenceOf } from '../evidence-of.ts';

/** Larger than any kernel's ring on a node (log_buf_len is 256 kB to 4 MB). */
const MAX_BYTES = 8 * 1024 * 1024;

/** The kernel's own log from /dev/kmsg: hung tasks with their stacks, I/O errors, the OOM killer, unregister_netdevice. */
export const kernelLog: Collector = {
  name: 'kernel-log',
  phase: 'linger',
  deadlineMs: 3000,
  async *collect(capture) {
    yield evidenceOf('logs/kernel.log', await capture.host.kernelLog(MAX_BYTES, deadlineOf(capture)));
  },
};
