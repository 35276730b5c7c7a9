import type { Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing } from './evidence-of.ts';
import { listing } from './listing.ts';
import { dockerRootsOf } from './runtime-places.ts';
import { withoutEnvValues } from './without-env-values.ts';

/**
 * What dockerd believes, from disk, dockerd not asked: <data root>/containers/<id>/config.v2.json (moby,
 * daemon/container): `.State` with Running, Pid and FinishedAt, `.Name`, and the labels of the pod.
 */
export const dockerState: Collector = {
  name: 'docker-state',
  phase: 'files',
  deadlineMs: 4000,
  targets: ['sandbox'],
  async *collect(capture) {
    if (capture.target.kind !== 'sandbox' || capture.target.sandbox.runtime !== 'docker') return;
    const { containers } = capture.target.sandbox;
    const roots = dockerRootsOf(capture);
    const files = await capture.host.readRisky(
      containers.flatMap(({ id }) =>
        roots.map(root => ({ path: `${root}/containers/${id}/config.v2.json`, withStat: true })),
      ),
      deadlineOf(capture),
    );
    const readAt = capture.host.now().wall;
    for (const [index, { id }] of containers.entries()) {
      const tried = files.slice(index * roots.length, (index + 1) * roots.length);
      const file = tried.find(candidate => !isMissing(candidate)) ?? tried[0];
      if (file === undefined) continue;
      const removed = 'dockerd has no record of this container: it was removed';
      yield withoutEnvValues(evidenceOf(`containers/${id}/config.v2.json`, file, removed));
      const rows = [{ name: 'config.v2.json', file }];
      const body = listing(file.path.slice(0, file.path.lastIndexOf('/')), readAt, rows);
      if (!isMissing(file)) yield { path: `containers/${id}/config.v2.stat`, source: file.path, outcome: 'ok', body };
    }
  },
};
