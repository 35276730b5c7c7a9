import { suffixOf } from '../ask.ts';
import type { Collector } from '../collector.ts';
import { containerdsOf } from '../runtime-places.ts';
import { type LoggedDaemon, logOf } from './daemon-log.ts';

/** containerd's log: TaskExit events and their retries, RPCs that ran into their deadline, and what the shims write. */
export const containerdLog: Collector = {
  name: 'containerd-log',
  phase: 'linger',
  deadlineMs: 10_000,
  async *collect(capture) {
    const daemons = containerdsOf(capture);
    if (daemons.length === 0) {
      const detail = 'no containerd runs on this node';
      yield { path: 'logs/containerd.log', source: 'containerd', outcome: 'absent', body: Buffer.alloc(0), detail };
    }
    for (const [index, { pid, root }] of daemons.entries()) {
      if (capture.signal.aborted) return;
      const daemon: LoggedDaemon = { name: 'containerd', pid, root, places: placesFor(root) };
      yield* logOf(capture, `logs/containerd${suffixOf(index)}.log`, daemon);
    }
  },
};

/** k3s and rke2 write it into containerd's own root. */
function placesFor(root: string | null): readonly string[] {
  return [
    ...(root === null ? [] : [`${root}/containerd.log`]),
    '/var/log/containerd.log',
    '/var/log/containerd/containerd.log',
  ];
}
