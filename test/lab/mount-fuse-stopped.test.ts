import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status, threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { mountFuseStopped } from './stalls/mount-fuse-stopped.ts';

describe.skipIf(labUnavailable())('a volume whose FUSE daemon is stopped', () => {
  it('holds runc init in S, below the shim, and the start of the container with it', () =>
    during(mountFuseStopped(), async ({ pod, container, fuse, runcPid, thread }) => {
      expect(status(fuse.pid)?.state).toBe('T');
      const waiting = threads(thread.pid).find(({ tid }) => tid === thread.tid);
      expect(waiting).toMatchObject({ state: 'S', wchan: 'request_wait_answer' });
      expect(status(runcPid)).toMatchObject({ comm: 'runc', ppid: pod.shimPid });
      expect((await container.status()).state).toBe('CONTAINER_CREATED');
    }));
});
