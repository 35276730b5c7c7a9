import { readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { alive, status } from './proc.ts';
import { signal } from './processes.ts';
import { labUnavailable } from './requirements.ts';
import { journaldStopped, loggingToJournald } from './stalls/journald-stopped.ts';
import { until } from './wait.ts';

const text = (entry: Record<string, unknown>): string =>
  Array.isArray(entry['MESSAGE']) ? String.fromCharCode(...entry['MESSAGE']) : String(entry['MESSAGE']);

describe.skipIf(labUnavailable())('a containerd that logs to journald', () => {
  it('has the goroutine dump of a shim in the journal', () =>
    during(loggingToJournald(), async ({ containerd, pod, entries }) => {
      expect(readlinkSync(`/proc/${containerd.pid}/fd/2`)).toMatch(/^socket:/);
      signal(pod.shimPid, 'SIGUSR1');
      const dump = await until('the dump in the journal', 10_000, async () =>
        (await entries()).map(text).find(message => message.includes('=== END goroutine stack dump ===')),
      );
      expect(dump).toContain(pod.id);
    }));

  it('goes on while journald is stopped, and what it logs does not arrive', () =>
    during(journaldStopped(), async ({ containerd, pod, journaldPid, entries }) => {
      expect(status(journaldPid)?.state).toBe('T');
      const before = (await entries()).length;
      signal(pod.shimPid, 'SIGUSR1');
      expect(await containerd.ctr(['task', 'ls'], 5000)).toContain(pod.id);
      await sleep(700);
      expect(alive(pod.shimPid)).toBe(true);
      expect((await entries()).length).toBe(before);
    }));
});
