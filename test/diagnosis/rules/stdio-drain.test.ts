import { describe, expect, it } from 'vitest';
import type { CriStatusFact, Holder } from '../../../src/diagnosis/facts.ts';
import { stdioDrain } from '../../../src/diagnosis/rules/stdio-drain.ts';
import { isInside } from '../../../src/formats/goroutines/goroutine.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, STARTED_AT, shimOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { containerdDumps, judge, shimDump, shimDumpOf } from '../judge.ts';

const exited = (agoMs: number) =>
  logsOf([eventOf('exit-received', { agoMs, exitedAt: STARTED_AT - agoMs, message: 'received container exit event' })]);

const holder = (pid: number): Holder => ({
  ...{ pid, comm: 'sleep', how: 'fd 1', ofPod: false },
  cite: { entry: 'node/holders.txt', line: 1, text: `${pid} sleep fd 1 pipe:[81273]` },
});

/** The fixture is of a pod with a second container, whose log nobody reads; for most tests that is left out. */
const dumpOf = (version: string) => {
  const dump = shimDump(`${version}-stdio-drain-waitTimeout`);
  return { ...dump, all: dump.all.filter(goroutine => !isInside(goroutine, ['(*fifo).Write'])) };
};

const draining = {
  goroutines: [dumpOf('2.3.4')],
  shims: [shimOf({ descriptors: new Map([[9, 'pipe:[81273]']]) })],
  containers: [containerOf({ init: 'gone' })],
  logs: exited(8000),
  holders: { pipeWriters: new Map([[81_273, [holder(4711)]]]), mounts: new Map() },
  capture: { versions: { containerd: '2.3.4', runc: null, docker: null, kubelet: null, shimMajor: 2 } },
} as const;

describe('stdio-drain', () => {
  it('is proved by the goroutine in the drain and the process that holds the pipe', () => {
    const [found] = judge(stdioDrain, factsOf(draining));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 8000,
      says: expect.stringContaining('process 4711 (sleep)'),
    });
    expect(found?.because[0]?.text).toContain('process.waitTimeout');
    expect(found?.links[0]).toMatchObject({
      about: [expect.stringMatching(/^goroutine:2623:/), `task:${CONTAINER_ID}`],
      waitsFor: ['process:4711'],
    });
  });

  it('is likely as long as nobody has looked for the holder', () => {
    expect(judge(stdioDrain, factsOf({ ...draining, holders: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('knows the wait without a limit of old shims', () => {
    const goroutines = [
      shimDumpOf(`goroutine 31 [semacquire, 20 minutes]:
sync.runtime_Semacquire(0xc0000b2018)
	runtime/sema.go:56 +0x42
sync.(*WaitGroup).Wait(0xc0000b2010)
	sync/waitgroup.go:130 +0x64
github.com/containerd/containerd/runtime/v1/linux/proc.(*Init).delete(0xc0000b2000)
	github.com/containerd/containerd/runtime/v1/linux/proc/init.go:266 +0x40
`),
    ];
    const facts = factsOf({ ...draining, goroutines, holders: null, capture: {} });
    expect(
      judge(stdioDrain, {
        ...facts,
        capture: { ...facts.capture, versions: { ...facts.capture.versions, containerd: null } },
      }),
    ).toMatchObject([{ verdict: 'likely' }]);
  });

  it('does not take a drain of 2 s for the stall with the versions that have it', () => {
    const goroutines = [dumpOf('1.6.20')];
    expect(judge(stdioDrain, factsOf({ ...draining, goroutines, capture: {} }))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });

  it('says no more than possible below 5 s, and without a time of the exit', () => {
    expect(judge(stdioDrain, factsOf({ ...draining, logs: exited(4000) }))).toMatchObject([{ verdict: 'possible' }]);
    expect(judge(stdioDrain, factsOf({ ...draining, logs: null }))).toMatchObject([
      { verdict: 'possible', ageMs: null },
    ]);
  });

  it('takes a running container that writes into its own pipe for no holder', () => {
    const containers = [...draining.containers, containerOf({ id: 'd2'.repeat(32), initPid: 4711 })];
    expect(judge(stdioDrain, factsOf({ ...draining, containers }))).toMatchObject([
      { verdict: 'likely', links: [{ waitsFor: [] }] },
    ]);
  });

  describe('when containerd waits for the output itself, before it asks the shim', () => {
    const { containers, logs, shims, holders, capture } = draining;
    const criStatus = {
      state: 'RUNNING',
      cite: { entry: 'status.json', line: 1, text: '"FinishedAt":0' },
    } as unknown as CriStatusFact;
    /** A shim at rest that has a copy of output left, though its container has ended. */
    const left = {
      ...{ logs, shims, holders, capture, goroutines: [shimDump('1.6.20-healthy')] },
      containers: containers.map(container => ({ ...container, criStatus })),
    };

    it('is proved by the copy that has not ended and the process that holds the pipe', () => {
      const [found] = judge(stdioDrain, factsOf(left));
      expect(found).toMatchObject({ verdict: 'proved', ageMs: 8000 });
      expect(found?.links[0]?.about).toContain(`task:${CONTAINER_ID}`);
    });

    it('cites the goroutine of containerd that waits, where there is a dump of it', () => {
      const [found] = judge(
        stdioDrain,
        factsOf({ ...left, holders: null, daemonGoroutines: containerdDumps(['2.1.9-io-wait']) }),
      );
      expect(found).toMatchObject({
        verdict: 'likely',
        links: [{ says: expect.stringContaining('containerd goroutine 172') }],
      });
      expect(found?.because[0]?.text).toContain('io.(*ContainerIO).Wait');
    });

    it('does not take the copies of running containers for what is left: two of each', () => {
      const copies = left.goroutines[0]?.all.filter(({ frames }) =>
        frames.some(({ function: name }) => /copyPipes\.func\d\.1$/.test(name)),
      );
      expect(copies).toHaveLength(4);
      const [one, two] = [containerOf({ id: 'd2'.repeat(32) }), containerOf({ id: 'd3'.repeat(32) })];
      expect(judge(stdioDrain, factsOf({ ...left, containers: [...left.containers, one] }))).toHaveLength(1);
      expect(judge(stdioDrain, factsOf({ ...left, containers: [...left.containers, one, two] }))).toEqual([]);
    });

    it('does not fire before the exit is known, nor once CRI says exited', () => {
      expect(judge(stdioDrain, factsOf({ ...left, logs: null }))).toEqual([]);
      expect(judge(stdioDrain, factsOf({ ...left, containers }))).toEqual([]);
    });

    it('is found in a capture of containerd 2.1.9, and not in those of other kinds', () => {
      expect(judge(stdioDrain, factsOfBundle('stdio-drain'))).toMatchObject([{ verdict: 'likely' }]);
      for (const name of [
        'healthy',
        'containerd-restarted',
        'containerd-stopped',
        'exit-event-lost',
        'runc-delete-held',
        'umount-delayed',
      ]) {
        expect(judge(stdioDrain, factsOfBundle(name))).toEqual([]);
      }
    });
  });

  it('does not fire on a copy that waits for the reader of the log', () => {
    for (const version of ['1.6.20', '2.3.4']) {
      const goroutines = [shimDump(`${version}-stdio-copy-blocked`)];
      expect(judge(stdioDrain, factsOf({ ...draining, goroutines }))).toEqual([]);
    }
  });

  it('cannot tell a drain that waits for such a copy from one beside it, unless it knows the holder', () => {
    const goroutines = [shimDump('2.3.4-stdio-drain-waitTimeout')];
    expect(judge(stdioDrain, factsOf({ ...draining, goroutines, holders: null }))).toMatchObject([
      { verdict: 'possible', says: expect.stringContaining('or nobody reads its log') },
    ]);
    expect(judge(stdioDrain, factsOf({ ...draining, goroutines }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('does not fire on other shims', () => {
    for (const name of ['healthy', 'umount-in-delete', 'runc-delete-wait', 'exit-event-publish', 'cgroup-stats']) {
      for (const version of ['1.6.20', '2.3.4']) {
        const goroutines = [shimDump(`${version}-${name}`)];
        expect(judge(stdioDrain, factsOf({ ...draining, goroutines }))).toEqual([]);
      }
    }
  });
});
