import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { threads } from './proc.ts';
import { signal } from './processes.ts';
import { labUnavailable } from './requirements.ts';
import { epollCtlDelayed } from './stalls/epoll-ctl-delayed.ts';
import { SYSCALL } from './syscalls.ts';

describe.skipIf(labUnavailable())('a thread of the shim that cannot be stopped for a dump', () => {
  it('hurts nobody until somebody asks for the dump, and then everybody', () =>
    during(epollCtlDelayed(), async ({ containerd, pod, container, thread }) => {
      const held = threads(pod.shimPid).find(({ tid }) => tid === thread.tid);
      expect(held).toMatchObject({ state: 't', syscall: SYSCALL.epoll_ctl });
      expect(await containerd.ctr(['task', 'ls'], 10_000)).toMatch(new RegExp(`${container.id} +\\d+ +RUNNING`));
      signal(pod.shimPid, 'SIGUSR1');
      await sleep(300);
      await expect(containerd.ctr(['task', 'ls'], 1000)).rejects.toThrow(/timed out/);
      expect(containerd.log().includes('END goroutine stack dump')).toBe(false);
    }));
});
