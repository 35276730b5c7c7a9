import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status, threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { filesystemFrozen } from './stalls/filesystem-frozen.ts';

describe.skipIf(labUnavailable())('a frozen filesystem below the root of containerd', () => {
  it('holds containerd in D while it writes a status file', () =>
    during(filesystemFrozen(), async ({ containerd, container, initPid, thread }) => {
      const blocked = threads(containerd.pid).find(({ tid }) => tid === thread.tid);
      expect(blocked).toMatchObject({ state: 'D', wchan: 'percpu_rwsem_wait' });
      expect(status(initPid)).toBeNull();
      expect((await container.status()).state).toBe('CONTAINER_RUNNING');
    }));
});
