import type { Evidence } from '../bundle/evidence.ts';
import type { HttpCall } from '../host/port.ts';
import type { Capture } from './collector.ts';
import { leaveDockerView } from './docker-view.ts';
import { deadlineOf } from './evidence-of.ts';
import { withoutEnvValues } from './without-env-values.ts';

const ALL_MS = 4000;

/**
 * What dockerd says over its own socket, for a node without docker's client (Docker Engine API, /containers/json and
 * /containers/<id>/json; a path without a version is the daemon's newest). All at the same time: dockerd waits for the lock of
 * the container that is asked about, so a hang names the one that is stuck, and the others answer.
 */
export async function* dockerApi(
  capture: Capture,
  socket: string,
  ids: readonly string[],
  suffix: string,
): AsyncGenerator<Evidence> {
  const filters = ids.length === 0 ? '' : `&filters=${encodeURIComponent(JSON.stringify({ id: ids }))}`;
  const questions = [
    { what: 'version', path: '/version', id: null },
    { what: 'containers', path: `/containers/json?all=1${filters}`, id: null },
    ...ids.map(id => ({ what: `container-${id.slice(0, 12)}`, path: `/containers/${id}/json`, id })),
  ];
  const calls = await capture.host.askHttp(
    socket,
    questions.map(({ path }) => path),
    deadlineOf(capture, ALL_MS),
  );
  for (const [index, { what, id }] of questions.entries()) {
    const call = calls[index];
    if (call === undefined) continue;
    const evidence = evidenceOf(`runtime/docker-api-${what}${suffix}.json`, socket, call);
    if (id !== null) leaveDockerView(capture, id, evidence);
    yield withoutEnvValues(evidence);
  }
}

function evidenceOf(path: string, socket: string, call: HttpCall): Evidence {
  const { outcome, detail, body, offsetMs, latencyMs } = call;
  return {
    path,
    source: `GET ${call.path} at unix://${socket}`,
    outcome,
    body,
    at: { offsetMs, durationMs: latencyMs },
    ...(detail === undefined ? {} : { detail }),
  };
}
