import { describe, expect, it } from 'vitest';
import type { Belief, DockerFact, Facts, View } from '../../../src/diagnosis/facts.ts';
import { runtimeMismatch } from '../../../src/diagnosis/rules/runtime-mismatch.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, STARTED_AT } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

/** What a source says, `ms` after the start of the capture. */
const view = (source: string, says: Belief, ms: number | null, word = says.toUpperCase()): View => ({
  ...{ source, says, word, tookMs: null, at: ms === null ? null : STARTED_AT + ms },
  cite: { entry: `views/${source}`, line: 1, text: word },
});

const exited = (agoMs: number) => logsOf([eventOf('exit-received', { agoMs, exitedAt: STARTED_AT - agoMs })]);

const seen = (views: readonly View[], rest: Partial<Facts> = {}, container: Parameters<typeof containerOf>[0] = {}) =>
  factsOf({ containers: [containerOf({ init: 'gone', views, ...container })], ...rest });

const BEHIND = [
  view('/proc', 'exited', 3000, 'gone'),
  view('shim', 'exited', 4000, 'STOPPED'),
  view('CRI status file', 'running', 1500),
  view('crictl', 'running', 5000),
];

describe('runtime-mismatch', () => {
  it('prints the table, with who is behind', () => {
    const [found] = judge(runtimeMismatch, seen(BEHIND, { logs: exited(60_000) }));
    expect(found).toMatchObject({
      ...{ verdict: 'proved', ageMs: 60_000 },
      says: 'The layers disagree about container app (c1c1c1c1c1c1): /proc: gone; shim: STOPPED; CRI status file: RUNNING; crictl: RUNNING.',
      links: [
        {
          says: 'CRI status file, crictl still say running',
          about: [`belief:${CONTAINER_ID}`],
          waitsFor: [`task:${CONTAINER_ID}`],
        },
      ],
    });
    expect(found?.because).toHaveLength(4);
    expect(found?.next[0]).toContain('CRI status file and crictl');
  });

  it('knows docker against containerd', () => {
    const views = [view('shim', 'exited', 4000, 'STOPPED'), view('config.v2.json', 'running', 5000, 'Running')];
    expect(judge(runtimeMismatch, seen(views, { logs: exited(60_000) }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('has the time between two questions as an age where nobody knows of the exit, which proves nothing below 5 s', () => {
    expect(judge(runtimeMismatch, seen(BEHIND))).toMatchObject([
      { verdict: 'possible', ageMs: 2000, ageFrom: 'crictl was asked 2.0 s after /proc' },
    ]);
    const late = [view('/proc', 'exited', 1000), view('crictl', 'running', 7000)];
    expect(judge(runtimeMismatch, seen(late))).toMatchObject([{ verdict: 'proved', ageMs: 6000 }]);
  });

  it('takes it for no contradiction that one who was asked later knows more', () => {
    const views = [
      view('/proc', 'running', 3000, 'alive'),
      view('CRI status file', 'running', 1500),
      view('crictl', 'exited', 5000),
    ];
    expect(judge(runtimeMismatch, seen(views))).toEqual([]);
  });

  it('does not fire within a second of the end', () => {
    expect(
      judge(
        runtimeMismatch,
        seen([view('/proc', 'exited', 200), view('CRI status file', 'running', 500)], { logs: exited(300) }),
      ),
    ).toEqual([]);
  });

  it('does not fire where all agree, be it in other words', () => {
    expect(
      judge(
        runtimeMismatch,
        seen([
          view('/proc', 'running', 1),
          view('runc', 'created', 2),
          view('shim', 'paused', 3),
          view('crictl', 'unknown', 4),
        ]),
      ),
    ).toEqual([]);
    expect(
      judge(
        runtimeMismatch,
        seen([view('/proc', 'exited', 1), view('runc', 'absent', 2), view('crictl', 'exited', 3)]),
      ),
    ).toEqual([]);
    expect(judge(runtimeMismatch, seen([]))).toEqual([]);
  });

  it('does not take a container that runc has not created yet for one that ended', () => {
    const views = [view('runc', 'absent', 1000, 'no record'), view('CRI status file', 'created', 1500)];
    expect(judge(runtimeMismatch, seen(views, {}, { initPid: null, init: null }))).toEqual([]);
  });

  it('does not take a container that docker has started again, under the same id, for one that ended', () => {
    const docker = { running: true, pid: 9999 } as unknown as DockerFact;
    const views = [view('/proc', 'exited', 1000), view('config.v2.json', 'running', 9000)];
    expect(judge(runtimeMismatch, seen(views, {}, { docker }))).toEqual([]);
    expect(judge(runtimeMismatch, seen(views, {}, { docker: { ...docker, pid: 2700 } }))).toMatchObject([
      { verdict: 'proved' },
    ]);
  });

  it('finds it in captures, and not in those of pods that are well', () => {
    for (const name of ['runc-delete-held', 'stdio-drain'])
      expect(judge(runtimeMismatch, factsOfBundle(name))).toMatchObject([{ verdict: 'proved' }]);
    for (const name of ['containerd-stopped', 'dockerd-stopped'])
      expect(judge(runtimeMismatch, factsOfBundle(name))).toHaveLength(1);
    for (const name of ['healthy', 'containerd-restarted', 'runc-create-held', 'runc-start-held', 'log-fifo-full']) {
      expect(judge(runtimeMismatch, factsOfBundle(name))).toEqual([]);
    }
  });
});
