import { readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { signal } from './processes.ts';
import { labUnavailable } from './requirements.ts';
import { stdioDrain } from './stalls/stdio-drain.ts';
import { until } from './wait.ts';

describe.skipIf(labUnavailable())('a dead container whose stdout is still held', () => {
  it('runs for CRI while its shim waits for the end of the output, and then no more', () =>
    during(stdioDrain(), async ({ containerd, pod, container, holderPid }) => {
      signal(pod.shimPid, 'SIGUSR1');
      expect((await container.status()).state).toBe('CONTAINER_RUNNING');
      expect(readlinkSync(`/proc/${holderPid}/fd/1`)).toMatch(/^pipe:/);
      await until('the dump', 5000, () => containerd.log().includes('END goroutine stack dump'));
      expect(containerd.log().includes('process.waitTimeout')).toBe(true);
      await until('CRI to notice', 15_000, async () => (await container.status()).state === 'CONTAINER_EXITED');
    }));
});
