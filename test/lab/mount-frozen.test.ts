import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { threads } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { mountFrozen } from './stalls/mount-frozen.ts';
import { SYSCALL } from './syscalls.ts';

describe.skipIf(labUnavailable())('a container whose snapshots lie on a frozen filesystem', () => {
  it('does not start: its shim is in D in mount', () =>
    during(mountFrozen(), async ({ pod, container, thread }) => {
      const blocked = threads(pod.shimPid).find(({ tid }) => tid === thread.tid);
      expect(blocked).toMatchObject({ state: 'D', syscall: SYSCALL.mount });
      expect(blocked?.stack).toEqual(expect.arrayContaining(['mnt_want_write', 'ovl_fill_super', 'path_mount']));
      expect((await container.status()).state).toBe('CONTAINER_CREATED');
    }));
});
