import { describe, expect, it } from 'vitest';
import type { CriStatusFact, DaemonFacts, DockerFact, Facts, ShimAnswer } from '../../../src/diagnosis/facts.ts';
import { exitEventLost } from '../../../src/diagnosis/rules/exit-event-lost.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, STARTED_AT, shimOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const EXITED = STARTED_AT - 60_000;

const RUNNING = {
  ...{ state: 'RUNNING', startedAt: STARTED_AT - 600_000, finishedAt: null, file: null, temporary: [] },
  cite: cited(`containers/${CONTAINER_ID}/status.json`, '"FinishedAt":0'),
} as unknown as CriStatusFact;

const answerOf = (status: ShimAnswer['status']): ShimAnswer => ({
  ...{ status, pid: 2700, exitStatus: 137, exitedAt: status === 'STOPPED' ? EXITED : null, tookMs: 3 },
  cite: cited('runtime/views.json', `"status":"${status}"`),
});

const daemonOf = (kind: DaemonFacts['kind'], stat = 'Ssl'): DaemonFacts => ({
  ...{ kind, pid: 812, stat, ageMs: 90_000, startedAt: STARTED_AT - 90_000, args: kind, ofTarget: true, threadsInD: 0 },
  cite: cited('node/processes.txt', `812 ${kind}`),
});

const started = eventOf('daemon-started', { agoMs: 80_000, container: null, ids: [] });

const lost = (rest: Partial<Facts> = {}, container: Parameters<typeof containerOf>[0] = {}) =>
  factsOf({
    containers: [containerOf({ init: 'gone', criStatus: RUNNING, shimAnswer: answerOf('STOPPED'), ...container })],
    shims: [shimOf()],
    daemons: [daemonOf('containerd')],
    goroutines: [shimDump('1.6.20-healthy')],
    logs: logsOf([started]),
    ...rest,
  });

describe('exit-event-lost', () => {
  it('is proved by a shim that knows and idles, and a log that covers the exit without a word of it', () => {
    const [found] = judge(exitEventLost, lost());
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 60_000,
      says: expect.stringContaining("never reached containerd's CRI part"),
    });
    expect(found?.because.map(({ text }) => text)).toContain(started.cite.text);
    expect(found?.next.join()).toContain('1.7.34');
    expect(found?.links[0]?.about).toEqual([`belief:${CONTAINER_ID}`, `task:${CONTAINER_ID}`]);
  });

  it("takes docker's record as well", () => {
    const docker = { running: true, cite: cited('config.v2.json', 'Running true') } as unknown as DockerFact;
    const facts = lost({ daemons: [daemonOf('dockerd')] }, { criStatus: null, docker });
    expect(judge(exitEventLost, facts)).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('never reached dockerd') },
    ]);
  });

  it('is likely without a dump, and when the log does not reach back to the exit', () => {
    expect(judge(exitEventLost, lost({ goroutines: null, commands: [] }))).toMatchObject([{ verdict: 'likely' }]);
    const short = logsOf([], {
      sources: [
        {
          source: 'containerd',
          entry: 'logs/containerd.log',
          lines: 9,
          from: STARTED_AT - 30_000,
          to: STARTED_AT,
          whole: true,
        },
      ],
    });
    expect(judge(exitEventLost, lost({ logs: short }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('is possible at most without any log, and without a time of the exit', () => {
    expect(judge(exitEventLost, lost({ logs: null }))).toMatchObject([{ verdict: 'possible' }]);
    expect(judge(exitEventLost, lost({}, { shimAnswer: null }))).toMatchObject([{ verdict: 'possible', ageMs: null }]);
  });

  it('does not fire when the shim missed the exit itself', () => {
    expect(judge(exitEventLost, lost({}, { shimAnswer: answerOf('RUNNING') }))).toEqual([]);
    expect(judge(exitEventLost, lost({}, { init: 'zombie' }))).toEqual([]);
  });

  it('does not fire when the shim is busy, stopped, dead or does not answer', () => {
    for (const busy of ['umount-in-delete', 'runc-delete-wait', 'stdio-drain-waitTimeout', 'exit-event-publish']) {
      expect(judge(exitEventLost, lost({ goroutines: [shimDump(`1.6.20-${busy}`)] }))).toEqual([]);
    }
    expect(judge(exitEventLost, lost({ shims: [shimOf({ state: 'T' })] }))).toEqual([]);
    expect(judge(exitEventLost, lost({ shims: [shimOf({ alive: false })] }))).toEqual([]);
    expect(judge(exitEventLost, lost({}, { shimAnswer: answerOf('timeout') }))).toEqual([]);
  });

  it('does not fire when containerd has heard of it', () => {
    for (const kind of [
      'exit-received',
      'exit-handling-failed',
      'backoff-enqueued',
      'exit-retried',
      'delete-failed',
    ] as const) {
      const logs = logsOf([started, eventOf(kind, { agoMs: 50_000, exitedAt: EXITED })]);
      expect(judge(exitEventLost, lost({ logs }))).toEqual([]);
    }
  });

  it('takes no notice of an exit of the same container that was handled before', () => {
    const logs = logsOf([eventOf('exit-received', { agoMs: 700_000, exitedAt: EXITED - 700_000 }), started]);
    expect(judge(exitEventLost, lost({ logs }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('does not fire while the daemon is dead, stopped or stuck: it has not had the event yet', () => {
    expect(judge(exitEventLost, lost({ daemons: [] }))).toEqual([]);
    expect(judge(exitEventLost, lost({ daemons: [daemonOf('containerd', 'Tsl')] }))).toEqual([]);
    expect(judge(exitEventLost, lost({ daemons: [{ ...daemonOf('containerd'), threadsInD: 1 }] }))).toEqual([]);
  });

  it('does not fire when CRI knows, or the process lives', () => {
    expect(judge(exitEventLost, lost({}, { criStatus: { ...RUNNING, state: 'EXITED' } }))).toEqual([]);
    expect(judge(exitEventLost, lost({}, { init: 'alive' }))).toEqual([]);
  });

  it('finds the one that the lab has lost, and none in other captures', () => {
    expect(judge(exitEventLost, factsOfBundle('exit-event-lost'))).toMatchObject([
      {
        verdict: 'proved',
        because: expect.arrayContaining([expect.objectContaining({ text: expect.stringContaining('booted') })]),
      },
    ]);
    for (const name of [
      'healthy',
      'containerd-restarted',
      'containerd-stopped',
      'containerd-dead',
      'dockerd-stopped',
      'stdio-drain',
      'runc-delete-held',
      'shim-stopped',
    ]) {
      expect(judge(exitEventLost, factsOfBundle(name))).toEqual([]);
    }
  });
});
