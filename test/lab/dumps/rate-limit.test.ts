import { describe, expect, it } from 'vitest';
import { askForDump, expectAnswers, steps } from '../../collectors/dump-expectations.ts';
import { during } from '../during.ts';
import { labUnavailable } from '../requirements.ts';
import { until } from '../wait.ts';
import { idleConnections } from './connections.ts';
import { at, chatter, INTERVAL_MS, rateLimited } from './rate-limit.ts';

/** When in an interval the signal is sent: late enough to wait for its end with the dump, early enough to be within it. */
const SIGNAL_MS = INTERVAL_MS - 2000;

describe.skipIf(labUnavailable())('a dump that journald drops, since containerd says too much', () => {
  it('is lost, or truncated, and the verdict says to what', async ({ skip }) => {
    const stall = await rateLimited();
    if (stall === null) return skip('the journald of this machine is not the lab’s to configure');
    await during(Promise.resolve(stall), async ({ containerd, pod, unit, entries, dropping }) => {
      const suppressed = `Suppressed \\d+ messages from ${unit.replaceAll('.', '\\.')}`;
      const beginnings = async () =>
        (await entries()).filter(entry => String(entry['MESSAGE']).includes('BEGIN goroutine stack dump'));
      using _ = await idleConnections(pod, 150);

      let taken = 0;
      {
        await using _talking = chatter(containerd);
        const lost = await askForDump(pod.id, {
          before: async () => {
            const interval = await dropping();
            taken = interval.taken;
            await at(interval.beganMs + SIGNAL_MS);
          },
        });
        expect(lost.signals[0]?.dump, steps(lost)).toMatch(
          new RegExp(`^lost \\(rate limited: journald dropped messages: ${suppressed}`),
        );
        expect(await beginnings()).toEqual([]);
      }

      // A new interval, in which all but a few of the messages that it lets through have come when the dump does.
      await at(Date.now() + INTERVAL_MS);
      const beganMs = Date.now();
      await until('all but a few messages of the interval', SIGNAL_MS, async () => {
        const count = (await entries()).filter(entry => Number(entry['__REALTIME_TIMESTAMP']) / 1000 >= beganMs - 100);
        if (count.length >= taken - 4) return true;
        await containerd.cri.call('RemoveContainer', { container_id: 'unknown' }, 5000).catch(() => undefined);
        return false;
      });
      const [cut] = await Promise.all([
        askForDump(pod.id, { signalAgain: true, before: () => at(beganMs + SIGNAL_MS) }),
        // What journald takes again when the interval is over, and says then how much it has dropped.
        until('the beginning of the dump', 20_000, async () => (await beginnings()).length > 0, 100).then(async () => {
          await using _talking = chatter(containerd);
          await at(beganMs + INTERVAL_MS + 1500);
        }),
      ]);
      expect(cut.signals[0]?.dump, steps(cut)).toMatch(/^truncated \(at goroutine \d+\)$/);
      expect(cut.evidence.get('shim/goroutines.txt')).toMatchObject({
        outcome: 'truncated',
        detail: expect.stringMatching(new RegExp(`; rate limited: journald dropped messages: ${suppressed}`)),
      });
      expect(cut.evidence.get('shim/goroutines.raw.log')?.body.toString()).not.toContain('RemoveContainer');

      // Nobody says a word after the dump, so journald does not say what it has dropped; it did so a while before.
      {
        await using _talking = chatter(containerd);
        await dropping();
      }
      const quiet = await askForDump(pod.id, { signalAgain: true });
      expect(quiet.signals[0]?.dump, steps(quiet)).toMatch(
        new RegExp(`^lost \\(rate limited, as it seems: ${suppressed}, \\d+ s before the signal\\)$`),
      );
      await expectAnswers(containerd, pod);
    });
  });
});
