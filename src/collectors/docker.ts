import { prefixOf } from '../sandbox/mount-prefix.ts';
import type { RuntimeDaemon } from '../sandbox/types.ts';
import { ask, suffixOf } from './ask.ts';
import type { Collector } from './collector.ts';
import { dockerApi } from './docker-api.ts';
import { leaveDockerView } from './docker-view.ts';
import { dockerdsOf } from './runtime-places.ts';
import { withoutEnvValues } from './without-env-values.ts';

const DEFAULT_SOCKET = '/var/run/docker.sock';

/**
 * What dockerd says, of its own containers and of a node, by docker's client, or where there is none over its socket. `docker inspect` waits for the container's lock, so a hang names
 * the container that is stuck.
 */
export const docker: Collector = {
  name: 'docker',
  phase: 'ask',
  deadlineMs: 8000,
  async *collect(capture) {
    const { target } = capture;
    const foreign = target.kind === 'sandbox' && target.sandbox.runtime !== 'docker';
    const daemons = foreign ? [] : dockerdsOf(capture);
    if (daemons.length === 0) {
      const detail = foreign ? 'not asked: this pod is none of docker' : 'no dockerd runs on this node';
      yield {
        path: 'runtime/docker-version.txt',
        source: 'docker version',
        outcome: 'absent',
        body: Buffer.alloc(0),
        detail,
      };
      return;
    }
    const ids = target.kind === 'sandbox' ? target.sandbox.containers.map(({ id }) => id) : [];
    const questions = [
      { what: 'version', args: ['version'] },
      { what: 'ps', args: ['ps', '--all', '--no-trunc'] },
      ...ids.map(id => ({ what: `inspect-${id.slice(0, 12)}`, args: ['inspect', id], redact: withoutEnvValues })),
    ];
    for (const [index, daemon] of daemons.entries()) {
      const suffix = suffixOf(index);
      const address = hostOf(daemon);
      // The user's docker context may point to another machine.
      const asked = questions.map(question => ({ ...question, args: ['--host', address, ...question.args] }));
      const inspected = new Map(ids.map(id => [`runtime/docker-inspect-${id.slice(0, 12)}${suffix}.txt`, id]));
      let missing = false;
      for await (const evidence of ask(capture, [
        { tool: 'docker', programs: [['docker']], suffix, questions: asked },
      ])) {
        const id = inspected.get(evidence.path);
        if (id !== undefined) leaveDockerView(capture, id, evidence);
        if (evidence.outcome === 'absent') missing = true;
        yield evidence;
      }
      const [, socket] = /^unix:\/\/(.+)$/.exec(address) ?? [];
      if (missing && socket !== undefined) yield* dockerApi(capture, socket, ids, suffix);
    }
  },
};

/** `fd://` is systemd's socket activation: the default socket. A host on the network is taken as it is. */
function hostOf({ address, state }: RuntimeDaemon): string {
  const socket = address === null || address.startsWith('fd:') ? DEFAULT_SOCKET : address.replace(/^unix:\/\//, '');
  return socket.startsWith('/') ? `unix://${prefixOf(state ?? '')}${socket}` : socket;
}
