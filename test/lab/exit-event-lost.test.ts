import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { exitEventLost } from './stalls/exit-event-lost.ts';

describe.skipIf(labUnavailable())('a container that dies while containerd starts again', () => {
  it('is gone and stopped, and CRI goes on saying that it runs', () =>
    during(exitEventLost(), async ({ container, initPid }) => {
      await sleep(1000);
      expect(status(initPid)).toBeNull();
      expect(await container.status()).toMatchObject({ state: 'CONTAINER_RUNNING', finished_at: '0' });
    }));
});
