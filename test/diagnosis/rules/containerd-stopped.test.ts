import { describe, expect, it } from 'vitest';
import type { CommandFact, CriStatusFact, DaemonFacts, Facts } from '../../../src/diagnosis/facts.ts';
import { containerdStopped } from '../../../src/diagnosis/rules/containerd-stopped.ts';
import {
  CONTAINER_ID,
  containerOf,
  eventOf,
  factsOf,
  logsOf,
  processTable,
  SHIM_PID,
  STARTED_AT,
  signalOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });

/** As the sweep saw it, 500 ms after the start of the capture. */
const daemon = (partial: Partial<DaemonFacts> = {}): DaemonFacts => ({
  ...{
    kind: 'containerd',
    pid: 812,
    stat: 'Tsl',
    ageMs: 90_000,
    startedAt: STARTED_AT + 500 - 90_000,
    args: 'containerd',
    ofTarget: true,
    threadsInD: 0,
  },
  cite: cited('node/processes.txt', '812 Tsl containerd'),
  ...partial,
});

const asked = (partial: Partial<CommandFact> & { readonly atMs: number }): CommandFact => {
  const { atMs, ...rest } = partial;
  return {
    ...{
      tool: 'ctr',
      what: 'namespaces ls',
      argv: ['ctr'],
      outcome: 'error',
      exitCode: 1,
      durationMs: 2000,
      at: STARTED_AT + atMs,
    },
    stderr: 'ctr: failed to dial: context deadline exceeded: timed out waiting for server handshake',
    cite: cited('runtime/ctr-commands.jsonl', 'timeout'),
    ...rest,
  };
};

const silent = [asked({ atMs: 4000 }), asked({ atMs: 6000 })];

describe('containerd-stopped', () => {
  it('is proved by T in the sweep and by questions that went unanswered since', () => {
    const [found] = judge(containerdStopped, factsOf({ daemons: [daemon()], commands: silent }));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 7500,
      says: expect.stringContaining('containerd 812 is stopped (SIGSTOP), for 7.5 s at least, and 2 questions'),
    });
    expect(found?.links).toMatchObject([{ about: ['daemon:812'], waitsFor: [] }]);
  });

  it('says whose end it has not taken', () => {
    const criStatus = { state: 'RUNNING', cite: cited('status.json', '') } as unknown as CriStatusFact;
    const containers = [containerOf({ init: 'gone', criStatus })];
    expect(
      judge(containerdStopped, factsOf({ daemons: [daemon()], commands: silent, containers }))[0]?.links[0]?.about,
    ).toEqual(['daemon:812', `task:${CONTAINER_ID}`]);
  });

  it('is no more than possible when nobody asked it anything: it may have been for a moment', () => {
    expect(judge(containerdStopped, factsOf({ daemons: [daemon()] }))).toMatchObject([
      { verdict: 'possible', ageMs: null },
    ]);
    expect(judge(containerdStopped, factsOf({ daemons: [daemon()], commands: [asked({ atMs: 1000 })] }))).toMatchObject(
      [{ verdict: 'possible', ageMs: 2500 }],
    );
  });

  it("does not fire when it has answered since, runs, or is another pod's", () => {
    const answer = asked({ atMs: 8000, outcome: 'ok', exitCode: 0 });
    expect(judge(containerdStopped, factsOf({ daemons: [daemon()], commands: [...silent, answer] }))).toEqual([]);
    expect(judge(containerdStopped, factsOf({ daemons: [daemon({ stat: 'Ssl' })], commands: silent }))).toEqual([]);
    expect(
      judge(
        containerdStopped,
        factsOf({
          daemons: [daemon({ ofTarget: null }), daemon({ pid: 9, ofTarget: null, stat: 'Ssl' })],
          commands: silent,
        }),
      ),
    ).toEqual([]);
  });

  it('finds a stopped dockerd, whose containerd is well', () => {
    const daemons = [daemon({ kind: 'dockerd', pid: 800 }), daemon({ stat: 'Ssl' })];
    const docker = asked({
      atMs: 5000,
      durationMs: 3000,
      tool: 'docker',
      what: 'version',
      outcome: 'timeout',
      exitCode: null,
      stderr: '',
    });
    const commands = [asked({ atMs: 4000, outcome: 'ok', exitCode: 0 }), docker];
    const facts = { daemons, commands, target: { runtime: 'docker' } } as const;
    expect(judge(containerdStopped, factsOf(facts))).toMatchObject([
      { verdict: 'proved', ageMs: 7500, says: expect.stringContaining('dockerd 800 is stopped') },
    ]);
    expect(judge(containerdStopped, factsOf({ ...facts, target: { runtime: 'containerd' } }))).toEqual([]);
  });

  describe('when it is dead', () => {
    const signal = signalOf({
      offsetMs: 300,
      step: 'find its reader',
      result: 'no containerd serves /run/containerd/containerd.sock; so the fifo is opened before the signal',
    });
    const refused = (atMs: number) =>
      asked({
        atMs,
        durationMs: 60,
        stderr:
          'ctr: failed to dial: connection error: desc = "transport: error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"',
      });
    const shims = [{ pid: SHIM_PID, address: '/run/containerd/containerd.sock', state: null, root: null }];
    const sandbox = {
      ...factsOf().target.target,
      sandbox: { id: 's', namespace: 'k8s.io', pod: null, runtime: 'containerd', shims, containers: [] },
    };
    const dead = (rest: Partial<Facts> = {}) =>
      factsOf({
        daemons: [],
        processes: processTable(),
        signals: [signal],
        commands: [refused(3000), refused(5500)],
        ...rest,
        target: { target: sandbox as never },
      });

    it('is proved by the search for it and by refused questions', () => {
      expect(judge(containerdStopped, dead())).toMatchObject([
        {
          verdict: 'proved',
          ageMs: 5260,
          says: expect.stringContaining('containerd is not running for 5.3 s at least'),
        },
      ]);
    });

    it('has its age from the log, where that tells of its end', () => {
      const logs = logsOf([
        eventOf('daemon-stopping', { agoMs: 40_000, container: null, message: 'Stop CRI service' }),
      ]);
      expect(judge(containerdStopped, dead({ logs }))).toMatchObject([{ verdict: 'proved', ageMs: 45_560 }]);
    });

    it('may be just restarting: then it is no more than possible', () => {
      expect(judge(containerdStopped, dead({ commands: [refused(3000)] }))).toMatchObject([{ verdict: 'possible' }]);
      expect(judge(containerdStopped, dead({ commands: null }))).toMatchObject([{ verdict: 'possible' }]);
    });

    it('does not fire when it answers again, or another one serves the pod', () => {
      expect(
        judge(
          containerdStopped,
          dead({ commands: [refused(3000), asked({ atMs: 6000, outcome: 'ok', exitCode: 0 })] }),
        ),
      ).toEqual([]);
      const named = daemon({ stat: 'Ssl', args: '/usr/bin/containerd --address /run/containerd/containerd.sock' });
      expect(judge(containerdStopped, dead({ daemons: [named] }))).toEqual([]);
      expect(
        judge(containerdStopped, dead({ signals: null, daemons: [daemon({ stat: 'Ssl', ofTarget: null })] })),
      ).toEqual([]);
    });

    it('is not taken in by the only one of the node, which is somebody else’s', () => {
      expect(judge(containerdStopped, dead({ daemons: [daemon({ stat: 'Ssl' })] }))).toMatchObject([
        { verdict: 'proved', says: expect.stringMatching(/^No containerd serves this pod for 5\.3 s at least/) },
      ]);
    });

    it('goes by the search where other containerds run', () => {
      expect(judge(containerdStopped, dead({ daemons: [daemon({ stat: 'Ssl', ofTarget: null })] }))).toMatchObject([
        { verdict: 'proved' },
      ]);
    });

    it('does not fire for a pod without a shim, or for a node', () => {
      expect(judge(containerdStopped, { ...dead(), target: factsOf().target })).toEqual([]);
    });
  });

  it('finds each in captures, and none beside', () => {
    expect(judge(containerdStopped, factsOfBundle('containerd-stopped'))).toMatchObject([
      { verdict: 'proved', links: [{ about: [expect.stringMatching(/^daemon:/), expect.stringMatching(/^task:/)] }] },
    ]);
    expect(judge(containerdStopped, factsOfBundle('containerd-dead'))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('is not running') },
    ]);
    expect(judge(containerdStopped, factsOfBundle('dockerd-stopped'))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('dockerd') },
    ]);
    for (const name of ['healthy', 'containerd-restarted', 'exit-event-lost', 'shim-stopped', 'fs-frozen'])
      expect(judge(containerdStopped, factsOfBundle(name))).toEqual([]);
  });
});
