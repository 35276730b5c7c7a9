import { setTimeout as sleep } from 'node:timers/promises';
import type { Capture, Collector } from './collector.ts';
import { takeDump } from './daemons/take-dump.ts';
import { containerdsOf, dockerdsOf } from './runtime-places.ts';

/**
 * `daemons/containerd-<pid>-1.txt`, `daemons/dockerd-<pid>-1.txt`: the goroutines of the daemons themselves, on request
 * (--daemons). Twice, an interval apart, when more than one sample is taken: what stands in both has not moved. After
 * everything else: containerd's dump also goes into its log, where it would be taken for the shim's, or push out what was
 * logged. Never kubelet, which ignores the signal, and never runc, which hands it to its container.
 */
export const daemonDumps: Collector = {
  name: 'daemon-dumps',
  phase: 'daemons',
  deadlineMs: 20_000,
  onRequest: ({ daemons }) => daemons,
  async *collect(capture) {
    const daemons = daemonsOf(capture);
    if (daemons.length === 0) {
      const detail = 'no containerd and no dockerd runs on this node';
      yield { path: 'daemons/containerd.txt', source: 'SIGUSR1', outcome: 'absent', body: Buffer.alloc(0), detail };
    }
    const rounds = capture.options.samples > 1 ? 2 : 1;
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) await sleep(Math.min(capture.options.intervalMs, capture.remainingMs()));
      for (const daemon of daemons) {
        if (capture.signal.aborted) return;
        yield await takeDump(capture, daemon, `daemons/${daemon.kind}-${daemon.pid}-${round}.txt`);
      }
    }
  },
};

/** dockerd's own containerd is one of the containerds. */
function daemonsOf(capture: Capture) {
  const { target } = capture;
  const docker = target.kind !== 'sandbox' || target.sandbox.runtime === 'docker';
  return [...containerdsOf(capture), ...(docker ? dockerdsOf(capture) : [])];
}
