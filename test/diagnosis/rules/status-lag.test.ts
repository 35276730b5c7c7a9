import { describe, expect, it } from 'vitest';
import type { ContainerFacts, CriStatusFact, DaemonFacts, Facts } from '../../../src/diagnosis/facts.ts';
import { statusLag } from '../../../src/diagnosis/rules/status-lag.ts';
import {
  CONTAINER_ID,
  containerOf,
  eventOf,
  factsOf,
  logsOf,
  podThreads,
  SANDBOX_ID,
  STARTED_AT,
  shimOf,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const MINUTE = 60_000;

const statusOf = (partial: Partial<CriStatusFact>): CriStatusFact => ({
  ...{ state: 'RUNNING', pid: 2700, createdAtNs: '1', startedAtNs: '2', finishedAtNs: '0', exitCode: 0, reason: '' },
  ...{ startedAt: STARTED_AT - 60 * MINUTE, finishedAt: null, file: null, temporary: [] },
  cite: cited(`containers/${CONTAINER_ID}/status.json`, '"FinishedAt":0'),
  ...partial,
});

const exitedAt = (agoMs: number) => logsOf([eventOf('exit-received', { agoMs, exitedAt: STARTED_AT - agoMs })]);

const containerd = (ageMs: number): DaemonFacts => ({
  ...{
    kind: 'containerd',
    pid: 812,
    stat: 'Ssl',
    ageMs,
    startedAt: STARTED_AT - ageMs,
    args: 'containerd',
    ofTarget: true,
    threadsInD: 0,
  },
  cite: cited('node/processes.txt', '812 containerd'),
});

describe('status-lag of a container that CRI calls running', () => {
  const behind = (container: Partial<ContainerFacts> = {}, rest: Partial<Facts> = {}) =>
    factsOf({ containers: [containerOf({ init: 'gone', criStatus: statusOf({}), ...container })], ...rest });

  it('says how large the gap is by now', () => {
    const [found] = judge(statusLag, behind({}, { logs: exitedAt(15 * MINUTE) }));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 15 * MINUTE,
      says: expect.stringContaining('the gap is 15 min so far'),
    });
    expect(found?.links).toMatchObject([{ about: [`belief:${CONTAINER_ID}`], waitsFor: [`task:${CONTAINER_ID}`] }]);
  });

  it('is silent of a process that was seen when the status was read, or a moment before: it has ended since', () => {
    for (const seenBeforeStatusMs of [-800, 900]) expect(judge(statusLag, behind({ seenBeforeStatusMs }))).toEqual([]);
    expect(judge(statusLag, behind({ seenBeforeStatusMs: 6000 }))).toHaveLength(1);
  });

  it('names the new status that waits for the disk', () => {
    const criStatus = statusOf({ temporary: ['.tmp-status1234'] });
    expect(judge(statusLag, behind({ criStatus }, { logs: exitedAt(15 * MINUTE) }))[0]?.says).toContain(
      '.tmp-status1234',
    );
  });

  it("knows from the quiet of the shim's threads that it ended before they ran last", () => {
    const look = (tid: number, blockedForMs: number, state = 'S') => ({
      tid,
      state,
      wchan: null,
      call: null,
      blockedForMs,
      cite: cited('shim/threads-1.txt', `${tid}`),
    });
    const quiet = { threads: podThreads(), shims: [shimOf({ firstLook: [look(2623, 30_000), look(2624, 7000)] })] };
    expect(judge(statusLag, behind({}, quiet))).toMatchObject([
      { verdict: 'proved', ageMs: 7000, says: expect.stringContaining('7.0 s at least') },
    ]);
    // One that is stopped is quiet for its own reasons.
    expect(
      judge(statusLag, behind({}, { ...quiet, shims: [shimOf({ firstLook: [look(2623, 7000, 'T')] })] })),
    ).toMatchObject([{ verdict: 'possible', ageMs: null }]);
    // And one that was seen alive may have ended just now.
    const seen = podThreads(threadOf({ pid: 2700, tid: 2700, role: 'init', container: CONTAINER_ID }));
    expect(judge(statusLag, behind({}, { ...quiet, threads: seen }))).toMatchObject([
      { verdict: 'possible', ageMs: null },
    ]);
  });

  it('takes the time of death of a zombie from when it last ran', () => {
    const threads = podThreads(
      threadOf({
        pid: 2700,
        tid: 2700,
        role: 'init',
        container: CONTAINER_ID,
        state: 'Z',
        blockedForMs: 9000,
        stack: null,
      }),
    );
    expect(judge(statusLag, behind({ init: 'zombie' }, { threads }))).toMatchObject([
      { verdict: 'proved', ageMs: 9000 },
    ]);
  });

  it('says no more than possible below 5 s', () => {
    expect(judge(statusLag, behind({}, { logs: exitedAt(800) }))).toMatchObject([{ verdict: 'possible' }]);
  });

  it('does not fire on one that runs, and on one that was never started', () => {
    expect(judge(statusLag, behind({ init: 'alive' }))).toEqual([]);
    expect(judge(statusLag, behind({ criStatus: statusOf({ state: 'CREATED' }) }))).toEqual([]);
    expect(judge(statusLag, behind({ criStatus: 'absent' }))).toEqual([]);
  });

  it('does not count what the clock was set forward by', () => {
    // Started 1000 s after the boot, by a clock that was an hour behind today's.
    const bootedThen = STARTED_AT - 1_000_000_000 - 60 * MINUTE;
    const runc = {
      id: SANDBOX_ID,
      initPid: 2650,
      initStartTicks: '100000',
      created: new Date(bootedThen + 1_000_000).toISOString(),
      labels: new Map(),
      file: null,
      cite: cited('x', 'x'),
    };
    const facts = behind({}, { logs: exitedAt(61 * MINUTE) });
    const stepped = {
      ...facts,
      containers: [containerOf({ id: SANDBOX_ID, kind: 'sandbox', runc }), ...(facts.containers ?? [])],
    };
    expect(judge(statusLag, facts)).toMatchObject([{ ageMs: 61 * MINUTE }]);
    expect(judge(statusLag, stepped)[0]?.ageMs).toBeLessThan(2 * MINUTE);
  });

  it('finds it in captures, and not in those of pods that are well', () => {
    expect(judge(statusLag, factsOfBundle('runc-delete-held'))).toMatchObject([{ verdict: 'proved' }]);
    expect(judge(statusLag, factsOfBundle('shim-stopped'))).toMatchObject([{ verdict: 'proved' }]);
    for (const name of ['healthy', 'containerd-restarted', 'runc-create-held'])
      expect(judge(statusLag, factsOfBundle(name))).toEqual([]);
  });
});

describe('status-lag of a container that CRI calls exited', () => {
  const finishedAt = STARTED_AT - 40 * MINUTE;
  const written = (lateMs: number, rest: Partial<Facts> = {}) => {
    const file = {
      mtime: finishedAt + lateMs,
      ctime: finishedAt + lateMs,
      size: 180,
      cite: cited(`containers/${CONTAINER_ID}/status.stat`, 'status'),
    };
    const criStatus = statusOf({ state: 'EXITED', finishedAt, file });
    return factsOf({
      containers: [containerOf({ init: 'gone', criStatus })],
      daemons: [containerd(24 * 60 * MINUTE)],
      ...rest,
    });
  };

  it('has the gap from FinishedAt to the time of the file', () => {
    const [found] = judge(statusLag, written(15 * MINUTE));
    expect(found).toMatchObject({
      verdict: 'likely',
      ageMs: 15 * MINUTE,
      says: expect.stringContaining('15 min late; that is over since 25 min'),
    });
  });

  it('is proved by the trouble that the log tells of', () => {
    const logs = logsOf([eventOf('exit-handling-failed', { agoMs: 39 * MINUTE, exitedAt: finishedAt })]);
    expect(judge(statusLag, written(15 * MINUTE, { logs }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('is nothing when it was written at once, or before: the clock was set back', () => {
    expect(judge(statusLag, written(300))).toEqual([]);
    expect(judge(statusLag, written(-10 * MINUTE))).toEqual([]);
  });

  it('is nothing when a containerd that started has written it again', () => {
    expect(judge(statusLag, written(15 * MINUTE, { daemons: [containerd(25 * MINUTE)] }))).toEqual([]);
    const logs = logsOf([eventOf('daemon-started', { agoMs: 25 * MINUTE, container: null })]);
    expect(judge(statusLag, written(15 * MINUTE, { logs }))).toEqual([]);
    expect(judge(statusLag, written(15 * MINUTE, { daemons: null }))).toEqual([]);
  });
});
