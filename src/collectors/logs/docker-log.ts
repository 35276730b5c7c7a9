import { suffixOf } from '../ask.ts';
import type { Collector } from '../collector.ts';
import { dockerdsOf } from '../runtime-places.ts';
import { logOf } from './daemon-log.ts';

const PLACES = ['/var/log/docker.log', '/var/log/docker/docker.log', '/var/log/upstart/docker.log'];

/** dockerd's log, on nodes that have one: health checks of its containerd that failed, restarts of it, exits it waits for. */
export const dockerLog: Collector = {
  name: 'docker-log',
  phase: 'linger',
  deadlineMs: 14_000,
  async *collect(capture) {
    for (const [index, { pid }] of dockerdsOf(capture).entries()) {
      if (capture.signal.aborted) return;
      const daemon = { name: 'dockerd', pid, root: null, places: PLACES };
      yield* logOf(capture, `logs/docker${suffixOf(index)}.log`, daemon);
    }
  },
};
