import type { Evidence } from '../bundle/evidence.ts';
import type { FileResult } from '../host/port.ts';
import type { Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing } from './evidence-of.ts';
import { listing } from './listing.ts';
import { withoutEnvValues } from './without-env-values.ts';

/** `exec.fifo` is there from `runc create` until `runc start`; its presence says created, not started. */
const NAMES = ['state.json', 'exec.fifo'] as const;

/**
 * runc's own record of each container: /run/containerd/runc/<namespace>/<id>, also where containerd's state directory
 * is elsewhere. A missing record is an answer, not a gap: with the shim alive and the rootfs still mounted,
 * `runc delete` is through and whatever hangs came after it.
 */
export const runcState: Collector = {
  name: 'runc-state',
  phase: 'files',
  deadlineMs: 3000,
  targets: ['sandbox'],
  async *collect(capture) {
    if (capture.target.kind !== 'sandbox') return;
    const { containers } = capture.target.sandbox;
    const files = await capture.host.readRisky(
      containers.flatMap(({ runcState: directory }) => [
        { path: `${directory}/state.json`, withStat: true },
        { path: `${directory}/exec.fifo`, what: 'stat' as const },
      ]),
      deadlineOf(capture),
    );
    const readAt = capture.host.now().wall;
    for (const [index, { id, runcState: directory }] of containers.entries()) {
      const own = files.slice(index * NAMES.length, (index + 1) * NAMES.length);
      const [state] = own;
      if (state === undefined) continue;
      yield recordOf(`containers/${id}/runc.txt`, directory, readAt, own);
      if (!isMissing(state)) yield withoutEnvValues(evidenceOf(`containers/${id}/runc/state.json`, state));
    }
  },
};

function recordOf(path: string, directory: string, readAt: string, files: readonly FileResult[]): Evidence {
  const rows = NAMES.map((name, index) => ({ name, file: files[index] ?? null }));
  const body = listing(directory, readAt, rows);
  const none = files.every(isMissing);
  if (!none) return { path, source: directory, outcome: 'ok', body };
  return {
    path,
    source: directory,
    outcome: 'absent',
    body,
    detail: 'runc has no record of this container (any more)',
  };
}
