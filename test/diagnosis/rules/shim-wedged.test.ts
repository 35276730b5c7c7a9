import { describe, expect, it } from 'vitest';
import type { DaemonFacts, Facts } from '../../../src/diagnosis/facts.ts';
import { shimWedged } from '../../../src/diagnosis/rules/shim-wedged.ts';
import {
  CONTAINER_ID,
  callOf,
  containerOf,
  factsOf,
  podThreads,
  SHIM_PID,
  shimOf,
  signalOf,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const cited = (entry: string, text: string) => ({ entry, line: 1, text });
const LOG = '/run/containerd/io.containerd.runtime.v2.task/k8s.io/5a/log';

const writer = (partial: Parameters<typeof threadOf>[0] = {}) =>
  threadOf({
    state: 'S',
    wchan: 'anon_pipe_write',
    call: callOf('write', 1, '0x8'),
    stack: '[<0>] anon_pipe_write+0x332/0x6c0',
    ...partial,
  });

const stoppedDaemon: DaemonFacts = {
  ...{
    kind: 'containerd',
    pid: 812,
    stat: 'Tsl',
    ageMs: 90_000,
    startedAt: null,
    args: 'containerd',
    ofTarget: true,
    threadsInD: 0,
  },
  cite: cited('node/processes.txt', '812 containerd'),
};

const wedged = (thread = writer(), rest: Partial<Facts> = {}) =>
  factsOf({
    threads: podThreads(thread),
    shims: [
      shimOf({
        descriptors: new Map([
          [2, LOG],
          [8, LOG],
          [20, '/run/x/io/1/c1-stdout'],
        ]),
      }),
    ],
    daemons: [stoppedDaemon],
    ...rest,
  });

describe('shim-wedged on its log', () => {
  it('is proved by a thread that stands in a write to the log fifo, and says who should read', () => {
    const [found] = judge(shimWedged, wedged());
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 20_000,
      says: expect.stringContaining('containerd 812, which should read it, is stopped'),
    });
    expect(found?.links).toMatchObject([{ about: [`process:${SHIM_PID}`, 'thread:2631'], waitsFor: ['daemon:812'] }]);
  });

  it('goes by the stack where the kernel has no wait channels, and knows older names', () => {
    expect(judge(shimWedged, wedged(writer({ wchan: null })))).toMatchObject([{ verdict: 'proved' }]);
    expect(judge(shimWedged, wedged(writer({ wchan: 'pipe_wait' })))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('is likely when the descriptors were not captured, or the thread was seen once', () => {
    expect(judge(shimWedged, wedged(writer(), { shims: [shimOf()] }))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(shimWedged, wedged(writer({ moved: 'once' })))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('does not fire on a write to something else, on one that moves, or in another call', () => {
    expect(judge(shimWedged, wedged(writer({ call: callOf('write', 1, '0x14') })))).toEqual([]);
    expect(judge(shimWedged, wedged(writer({ moved: 'moved' })))).toEqual([]);
    expect(judge(shimWedged, wedged(writer({ call: callOf('futex', 202), wchan: 'futex_wait_queue' })))).toEqual([]);
  });

  describe('when the capture itself has freed it', () => {
    const firstLook = [
      {
        tid: 2631,
        state: 'S',
        wchan: 'anon_pipe_write',
        call: 'write',
        blockedForMs: 8300,
        cite: cited('shim/threads-1.txt', '2631'),
      },
    ];
    const signal = signalOf({
      offsetMs: 9,
      step: 'open /proc/2623/fd/2 for reading',
      result: 'ok; 1 threads of the shim were blocked in a write to a full pipe, which reading ends',
    });
    const freed = (rest: Partial<Facts>) =>
      wedged(writer({ moved: 'moved' }), { shims: [shimOf({ firstLook })], signals: [signal], ...rest });

    it('goes by the first look and by what the ladder noticed', () => {
      expect(judge(shimWedged, freed({}))).toMatchObject([
        { verdict: 'proved', ageMs: 8300, says: expect.stringContaining('has freed it') },
      ]);
    });

    it('does not fire when the drain freed nobody', () => {
      expect(judge(shimWedged, freed({ signals: [{ ...signal, steps: [] }] }))).toEqual([]);
      expect(judge(shimWedged, freed({ signals: null }))).toEqual([]);
    });
  });

  it('finds both in captures', () => {
    expect(judge(shimWedged, factsOfBundle('log-fifo-full'))).toMatchObject([
      { verdict: 'proved', links: [{ waitsFor: [expect.stringMatching(/^daemon:/)] }] },
    ]);
    expect(judge(shimWedged, factsOfBundle('log-fifo-drained'))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('has freed it') },
    ]);
    for (const name of [
      'healthy',
      'containerd-stopped',
      'containerd-dead',
      'containerd-restarted',
      'stdio-drain',
      'umount-delayed',
    ]) {
      expect(judge(shimWedged, factsOfBundle(name))).toEqual([]);
    }
  });
});

describe('shim-wedged because it is stopped', () => {
  const stopped = (state = 'T', ...more: ReturnType<typeof threadOf>[]) =>
    factsOf({
      threads: podThreads(
        threadOf({ tid: SHIM_PID, state, wchan: 'do_signal_stop' }),
        threadOf({ tid: 2624, state }),
        ...more,
      ),
      shims: [shimOf({ state })],
      containers: [containerOf({ init: 'zombie' })],
    });

  it('is proved by all threads in T, and names what waits for it', () => {
    const [found] = judge(shimWedged, stopped());
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringContaining('is stopped (SIGSTOP) for 20.0 s'),
    });
    expect(found?.links[0]?.about).toEqual(
      expect.arrayContaining([`process:${SHIM_PID}`, 'thread:2624', `task:${CONTAINER_ID}`]),
    );
    expect(judge(shimWedged, stopped('t'))[0]?.says).toContain('held by a debugger');
  });

  it('does not fire when a tracer holds one thread and the others go on', () => {
    expect(judge(shimWedged, stopped('t', threadOf({ tid: 2625, state: 'S' })))).toEqual([]);
  });

  it('finds it in a capture', () => {
    expect(judge(shimWedged, factsOfBundle('shim-stopped'))).toMatchObject([{ verdict: 'proved' }]);
  });
});
