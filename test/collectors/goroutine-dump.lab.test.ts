import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startDocker } from '../lab/docker.ts';
import { idleConnections } from '../lab/dumps/connections.ts';
import { during } from '../lab/during.ts';
import { signal } from '../lab/processes.ts';
import { labUnavailable } from '../lab/requirements.ts';
import { containerdDead } from '../lab/stalls/containerd-stopped.ts';
import { epollCtlDelayed } from '../lab/stalls/epoll-ctl-delayed.ts';
import { journaldStopped } from '../lab/stalls/journald-stopped.ts';
import { delaySyscall } from '../lab/strace.ts';
import { until } from '../lab/wait.ts';
import { askForDump, expectAnswers, expectWhole, expectWon, steps, withPod } from './dump-expectations.ts';

describe.skipIf(labUnavailable())('the goroutine dump of a shim', () => {
  it('comes whole out of the file that containerd logs to, and nobody else reads the fifo', () =>
    withPod({}, async (containerd, pod) => {
      const text = expectWhole(await askForDump(pod.id));
      const log = containerd.log();
      expect(log.match(/=== BEGIN goroutine stack dump ===/g)).toHaveLength(1);
      expect(text.match(/^goroutine \d+ /gm)?.length).toBe(log.match(/\\ngoroutine \d+ /g)?.length);
      await expectAnswers(containerd, pod);
    }));

  it('is the one that answers our signal, not one that somebody asked for before', () =>
    withPod({}, async (containerd, pod) => {
      signal(pod.shimPid, 'SIGUSR1');
      await until('the first dump', 5000, () => containerd.log().includes('=== END goroutine'));
      await sleep(200);
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      const raw = collected.evidence.get('shim/goroutines.raw.log')?.body.toString().trimEnd();
      const [first, second] = containerd
        .log()
        .split('\n')
        .filter(line => line.includes('BEGIN goroutine'));
      expect(second).toBe(raw);
      expect(first).not.toBe(raw);
    }));

  it('comes through a pipe out of the file that its reader keeps', () =>
    withPod({ stderr: 'pipe' }, async (containerd, pod) => {
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(collected.evidence.get('shim/goroutines.txt')?.source).toBe(
        join(containerd.folder.path, 'containerd.log'),
      );
      expect(steps(collected)).toMatch(/is pipe:\[\d+\], read by cat \d+: which writes .*containerd\.log/);
    }));

  it('comes out of the log that the containerd of docker shares with dockerd', () =>
    during(startDocker(), async docker => {
      const container = await docker.runContainer('web');
      const collected = await askForDump(container.id);
      expectWhole(collected);
      expect(steps(collected)).toContain(`descriptor 2 of containerd ${docker.containerdPid} is `);
    }));

  it('is drained when the bundle was deleted under the shim', () =>
    during(containerdDead(), async ({ pod }) => {
      rmSync(join(pod.bundle, 'log'));
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected)).toMatch(/find the shim log: descriptor 2: .*\/log \(deleted\)/);
    }));

  it('is taken before containerd gets it when journald is stopped', () =>
    during(journaldStopped(), async ({ pod, journaldPid }) => {
      using _ = await idleConnections(pod, 150);
      const collected = await askForDump(pod.id);
      expectWon(collected, 'log sink hung');
      expect(steps(collected)).toContain(`behind containerd systemd-journald ${journaldPid} is in state T`);
    }));

  it('is taken before a containerd gets it that logs to /dev/null', () =>
    withPod({ prefix: ['sh', '-c', 'exec "$@" 2>/dev/null', 'sh'] }, async (containerd, pod) => {
      // Four times what the pipe takes, so that both would have their turns.
      using _ = await idleConnections(pod, 150);
      const collected = await askForDump(pod.id);
      expectWon(collected, 'log sink keeps nothing');
      expect(steps(collected)).toMatch(/descriptor 2 of containerd \d+ is \/dev\/null; so the fifo is read beside/);
      await expectAnswers(containerd, pod);
    }));

  it('is drained after all when a containerd that looks well does not read', () =>
    withPod({}, async (containerd, pod) => {
      await using _ = await delaySyscall(containerd.folder, containerd.pid, 'read', 30_000);
      const collected = await askForDump(pod.id);
      expectWhole(collected);
      expect(steps(collected)).toMatch(/look into the log: .*: no dump of ours in it/);
      expect(steps(collected)).toMatch(/read the fifo after all: ok/);
    }));

  it('may be asked for past the last guard, and is waited for no longer than it may take', () =>
    during(epollCtlDelayed({ delayMs: 4000 }), async ({ containerd, pod }) => {
      const collected = await askForDump(pod.id, { forceSignal: true });
      expect(collected.signals[0]?.outcome).toBe('sent (forced past guard world can stop)');
      expect(collected.signals[0]?.guards.at(-1)).toMatchObject({ guard: 'world can stop', passed: false });
      expect(collected.ms).toBeLessThan(15_000);
      const arrived = () =>
        collected.signals[0]?.dump === 'complete' || containerd.log().includes('END goroutine stack');
      await until('the dump, once the call has returned', 20_000, arrived);
    }));
});
