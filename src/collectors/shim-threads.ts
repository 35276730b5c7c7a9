import { clocksOf } from '../sandbox/clocks-of-looks.ts';
import type { Collector } from './collector.ts';
import { deadlineOf } from './evidence-of.ts';
import { lookAtShim } from './first-look.ts';
import { shimFolder } from './shim-folder.ts';
import { threadsEvidence } from './threads-evidence.ts';

/**
 * `<shim>/threads-2.txt`, -3, …: the shim's threads again, once per round. A thread that shows the same stack in all of
 * them never moved. A shim that is gone is said once.
 */
export const shimThreads: Collector = {
  name: 'shim-threads',
  phase: 'samples',
  deadlineMs: 60_000,
  targets: ['sandbox'],
  async *collect(capture) {
    let shims = capture.shims;
    for await (const round of capture.rounds()) {
      for (const shim of shims) {
        const look = await lookAtShim(capture, shim);
        const clocks = await clocksOf(capture.host, [look], deadlineOf(capture, 500));
        yield threadsEvidence(`${shimFolder(capture.shims, shim)}/threads-${round + 1}.txt`, [look], clocks);
        if (look.outcome === 'gone') shims = shims.filter(other => other !== shim);
      }
    }
  },
};
