import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { alive, status, threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { logSinkFull } from './stalls/log-sink-full.ts';

describe.skipIf(labUnavailable())('a containerd whose log nobody reads any more', () => {
  it('hangs in a write to its stderr, and the pod lives on', () =>
    during(logSinkFull(), async ({ containerd, pod, container, readerPid, thread }) => {
      expect(status(readerPid)).toMatchObject({ comm: 'cat', state: 'T' });
      const blocked = threads(containerd.pid).find(({ tid }) => tid === thread.tid);
      expect(blocked?.wchan).toMatch(/pipe_write$/);
      expect([pod.shimPid, container.initPid].every(alive)).toBe(true);
      await expect(
        containerd.cri.call('StopContainer', { container_id: container.id, timeout: 0 }, 500),
      ).rejects.toMatchObject({
        code: 4,
      });
    }));
});
