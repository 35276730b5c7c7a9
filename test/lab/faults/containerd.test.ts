import { describe, expect, it } from 'vitest';
import { during } from '../during.ts';
import { expectUnharmed } from '../grab/grab.ts';
import { alive } from '../proc.ts';
import { signal } from '../processes.ts';
import { labUnavailable } from '../requirements.ts';
import { runAppPod } from '../stalls/app-pod.ts';
import { epollCtlDelayed } from '../stalls/epoll-ctl-delayed.ts';
import { logSinkFull } from '../stalls/log-sink-full.ts';
import { stalled } from '../stalls/stall.ts';
import { until } from '../wait.ts';
import { expectOnlyMissing, expectShimStacks, grabThrough, outcomesOf } from './grab-through.ts';

const QUICK = ['--samples', '1'];

/** That it is stopped, or dead, is tried in test/lab/grab/stalls.test.ts. */
describe.skipIf(labUnavailable())('a grab while', () => {
  it('nobody reads what containerd logs has the dump all the same, or the reason why not', context =>
    during(logSinkFull(), async ({ folder, containerd, pod, container, initPid, readerPid }) => {
      const through = await grabThrough(context, folder, pod.id, { timeoutS: 25, args: QUICK });
      expectShimStacks(through.bundle);
      const [signalled] = through.bundle.manifest.signals;
      expect(signalled).toMatchObject({ pid: pod.shimPid, outcome: 'sent' });
      // Two readers at one fifo: ours comes first nearly always, and says so when it did not.
      const whole = signalled?.dump === 'complete';
      if (!whole) expect(signalled?.dump).toMatch(/^(lost \(containerd took it: |truncated )/);
      expect(signalled?.steps.map(({ step, result }) => `${step}: ${result}`).join('\n')).toMatch(
        /is blocked in write to descriptor 2/,
      );
      expectOnlyMissing(through, / timeout /, /^ctr /, ...(whole ? [] : [/^shim\/goroutines/]));
      signal(readerPid, 'SIGCONT');
      await expectUnharmed(containerd, [pod, { id: container.id, initPid }]);
    }));

  it('containerd is restarted in the middle brings what it can, and the shim serves the next one', context =>
    during(stalled(runAppPod), async ({ folder, containerd, pod, container, initPid }) => {
      const through = await grabThrough(context, folder, pod.id, {
        timeoutS: 25,
        args: ['--samples', '2'],
        meanwhile: async started => {
          await until('the signal', 15_000, () => started.said().includes('Signal to the shim'), 2);
          await containerd.kill();
          await containerd.start();
        },
      });
      expectShimStacks(through.bundle);
      const [signalled] = through.bundle.manifest.signals;
      expect(signalled).toMatchObject({ pid: pod.shimPid, outcome: 'sent' });
      expect(signalled?.dump).toMatch(/^(complete|truncated|lost \()/);
      expect(outcomesOf(through.bundle).get('node/processes.txt')).toBe('ok');
      expect([0, 3]).toContain(through.run.exit);
      expect(through.run.left).toEqual([]);
      await expectUnharmed(containerd, [pod, { id: container.id, initPid }]);
    }));

  it('a thread of the shim could not stop for a dump sends no signal, and has all else', context =>
    during(epollCtlDelayed(), async ({ folder, containerd, pod, container, initPid, thread, release }) => {
      const through = await grabThrough(context, folder, pod.id, { timeoutS: 25, args: QUICK });
      expectShimStacks(through.bundle);
      const [spared] = through.bundle.manifest.signals;
      // Another thread that has met a new connection, containerd's or its own to publish an event, is held as well.
      expect(spared?.outcome).toMatch(
        new RegExp(`^not sent \\(guard world can stop: (?:thread .*; )?thread ${thread.tid} hangs in epoll_ctl`),
      );
      expect(containerd.log()).not.toContain('goroutine stack dump');
      // The connection that makes the thread hang waits for it, and so does whoever connects after it.
      expectOnlyMissing(through, /^SIGUSR1 to \d+: error not sent \(guard/, /shim-answers|ttrpc|views/);
      expect([pod.shimPid, initPid].every(alive)).toBe(true);
      await release();
      await expectUnharmed(containerd, [pod, { id: container.id, initPid }]);
    }));
});
