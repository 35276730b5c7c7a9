import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status, threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { overlayUmountSync } from './stalls/overlay-umount-sync.ts';
import { SYSCALL } from './syscalls.ts';

describe.skipIf(labUnavailable())('a container that dies with much unwritten on a slow disk', () => {
  it('leaves its shim in D in umount2, and CRI saying that it runs', () =>
    during(overlayUmountSync(), async ({ pod, container, initPid, thread }) => {
      const blocked = threads(pod.shimPid).find(({ tid }) => tid === thread.tid);
      expect(blocked).toMatchObject({ state: 'D', syscall: SYSCALL.umount2 });
      expect(blocked?.stack).toEqual(expect.arrayContaining(['ovl_sync_fs', 'generic_shutdown_super', 'cleanup_mnt']));
      expect(status(initPid)).toBeNull();
      expect((await container.status()).state).toBe('CONTAINER_RUNNING');
    }));
});
