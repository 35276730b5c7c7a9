import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { alive, status } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { containerdDead, containerdStopped } from './stalls/containerd-stopped.ts';

describe.skipIf(labUnavailable())('a pod whose containerd', () => {
  it('is stopped lives on, and gets no answer', () =>
    during(containerdStopped(), async ({ containerd, pod, container }) => {
      expect(status(containerd.pid)?.state).toBe('T');
      expect([pod.shimPid, pod.initPid, container.initPid].every(alive)).toBe(true);
      await expect(containerd.cri.call('Version', {}, 300)).rejects.toMatchObject({ code: 4 });
    }));

  it('is dead lives on, and may be found again by the next one', () =>
    during(containerdDead(), async ({ containerd, pod, container }) => {
      const first = containerd.pid;
      expect(alive(first)).toBe(false);
      expect([pod.shimPid, pod.initPid, container.initPid].every(alive)).toBe(true);
      await containerd.start();
      expect(containerd.pid).not.toBe(first);
      expect((await container.status()).state).toBe('CONTAINER_RUNNING');
      expect(alive(pod.shimPid)).toBe(true);
    }));
});
