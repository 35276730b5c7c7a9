import { describe, expect, it } from 'vitest';
import type { ContainerFacts, CriStatusFact, LogEvent } from '../../../src/diagnosis/facts.ts';
import { deleteTimeout } from '../../../src/diagnosis/rules/delete-timeout.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const EXITED = STARTED_AT - 14 * 60_000;
const DEADLINE = 'failed to stop container: failed to delete task: context deadline exceeded: unknown';

const failed = (agoMs: number, exitedAt: number | null = EXITED, error = DEADLINE) =>
  eventOf(agoMs > 800_000 ? 'exit-handling-failed' : 'backoff-failed', {
    agoMs,
    exitedAt,
    error,
    message: `failed to handle container TaskExit event for ${CONTAINER_ID}`,
  });
const retried = (agoMs: number) => eventOf('exit-retried', { agoMs, exitedAt: EXITED, level: 'info' });

const RUNNING = {
  ...{ state: 'RUNNING', pid: 2700, startedAt: STARTED_AT - 3_600_000, finishedAt: null, file: null, temporary: [] },
  cite: { entry: `containers/${CONTAINER_ID}/status.json`, line: 1, text: '"FinishedAt":0' },
} as unknown as CriStatusFact;

const facts = (events: readonly LogEvent[], container: Partial<ContainerFacts> = {}) =>
  factsOf({ containers: [containerOf({ init: 'gone', criStatus: RUNNING, ...container })], logs: logsOf(events) });

const timeouts = [failed(830_000), retried(828_000), failed(818_000), retried(300_000), failed(290_000)];

describe('delete-timeout', () => {
  it('is proved by timeouts that all have the same exited_at', () => {
    const [found] = judge(deleteTimeout, facts(timeouts));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 14 * 60_000,
      says: expect.stringContaining('timed out 3 times, so CRI still says running'),
    });
    expect(found?.links).toMatchObject([
      {
        says: "CRI still says running because TaskExit's Delete timed out after 10 s (x3)",
        about: [`belief:${CONTAINER_ID}`],
        waitsFor: [`task:${CONTAINER_ID}`],
      },
    ]);
  });

  it('goes on to what the shim hangs in, where its dump has one goroutine inside of Delete', () => {
    const [found] = judge(deleteTimeout, factsOfBundle('umount-delayed'));
    expect(found?.says).toMatch(/; the shim is in Unmount\.$/);
    expect(found?.links[1]).toMatchObject({
      says: expect.stringMatching(/^shim \d+ goroutine \d+ in Unmount$/),
      about: [expect.stringMatching(/^task:/), expect.stringMatching(/^goroutine:/)],
      waitsFor: [expect.stringMatching(/^thread:/)],
    });
    // Told by the rules on runc, and on the lock.
    for (const name of ['runc-delete-held', 'state-behind-delete']) {
      expect(judge(deleteTimeout, factsOfBundle(name))[0]?.links).toHaveLength(1);
    }
  });

  it('is likely when the exits differ', () => {
    expect(judge(deleteTimeout, facts([failed(830_000), failed(290_000, EXITED + 60_000)]))).toMatchObject([
      { verdict: 'likely' },
    ]);
  });

  it('does not fire on the zero time, which is no exit', () => {
    expect(judge(deleteTimeout, facts([failed(830_000, null), failed(290_000, null)]))).toEqual([]);
  });

  it('does not fire on an exit that was reported before it was, which is a clock that was set', () => {
    expect(judge(deleteTimeout, facts([failed(830_000, STARTED_AT)]))).toEqual([]);
  });

  it('does not fire on a Delete that fails at once', () => {
    expect(
      judge(
        deleteTimeout,
        facts([failed(290_000, EXITED, 'failed to unmount target /rootfs: device or resource busy')]),
      ),
    ).toEqual([]);
  });

  it('does not fire once it has worked', () => {
    expect(judge(deleteTimeout, facts([...timeouts, eventOf('late-cleanup', { agoMs: 10_000 })]))).toEqual([]);
    expect(
      judge(deleteTimeout, facts(timeouts, { criStatus: { ...RUNNING, state: 'EXITED', finishedAt: EXITED } })),
    ).toEqual([]);
  });

  it('does not fire on a process that is alive: the exit was of another one', () => {
    expect(judge(deleteTimeout, facts(timeouts, { init: 'alive' }))).toEqual([]);
  });

  it('takes noise of a normal end for nothing', () => {
    const noise = eventOf('other', { message: `ignoring event topic=/tasks/delete type=TaskDelete`, exitedAt: EXITED });
    const metrics = eventOf('metrics-failed', {
      message: `collecting metrics for ${CONTAINER_ID}`,
      error: 'cgroups: cgroup deleted: unknown',
    });
    expect(judge(deleteTimeout, facts([noise, metrics]))).toEqual([]);
  });

  it('finds the delete that the lab has held', () => {
    expect(judge(deleteTimeout, factsOfBundle('runc-delete-held'))).toMatchObject([{ verdict: 'proved' }]);
    for (const name of ['healthy', 'containerd-restarted', 'exit-event-lost', 'runc-start-held']) {
      expect(judge(deleteTimeout, factsOfBundle(name))).toEqual([]);
    }
  });
});
