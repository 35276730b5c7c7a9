import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status } from './proc.ts';
import { signal } from './processes.ts';
import { labUnavailable } from './requirements.ts';
import { dockerStopped } from './stalls/docker-stopped.ts';
import { until } from './wait.ts';

describe.skipIf(labUnavailable())('a container that dies while dockerd is stopped', () => {
  it('is stopped for containerd and running for docker, until dockerd goes on', () =>
    during(dockerStopped(), async ({ docker, container }) => {
      const record = () => JSON.parse(readFileSync(container.configFile, 'utf8')).State;
      expect(status(container.initPid)?.state ?? 'gone').toMatch(/Z|gone/);
      expect(record()).toMatchObject({ Running: true });
      await expect(docker.docker(['ps'], 500)).rejects.toThrow(/timed out/);
      signal(docker.pid, 'SIGCONT');
      await until('docker to notice', 10_000, () => record().Running === false);
      expect(record()).toMatchObject({ ExitCode: 137 });
    }));
});
