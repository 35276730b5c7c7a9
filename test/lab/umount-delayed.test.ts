import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status, threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { umountDelayed } from './stalls/umount-delayed.ts';
import { SYSCALL } from './syscalls.ts';

describe.skipIf(labUnavailable())('an umount2 that is held up by a tracer', () => {
  it('holds a thread of the shim without D, and its RPCs with it', () =>
    during(umountDelayed(), async ({ containerd, pod, container, initPid, thread }) => {
      const held = threads(pod.shimPid).find(({ tid }) => tid === thread.tid);
      expect(held).toMatchObject({ state: 't', syscall: SYSCALL.umount2 });
      expect(status(initPid)).toBeNull();
      expect((await container.status()).state).toBe('CONTAINER_RUNNING');
      await expect(containerd.ctr(['task', 'delete', container.id], 1000)).rejects.toThrow(/timed out/);
    }));
});
