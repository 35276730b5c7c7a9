import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { NotGot } from '../../src/bundle/manifest.ts';
import { SILENT } from '../../src/capture/progress.ts';
import { type PhaseRun, runPhases } from '../../src/capture/run-phases.ts';
import type { Capture, Collector, GrabOptions } from '../../src/collectors/collector.ts';
import { deadlineOf, timeFor } from '../../src/collectors/evidence-of.ts';
import type { Host } from '../../src/host/port.ts';

const options: GrabOptions = {
  ...{ timeoutMs: 5000, samples: 3, intervalMs: 20, sinceMs: 0, maxBytes: 1e6 },
  ...{ signal: true, forceSignal: false, signalAgain: false, daemons: false, skip: [], note: null, attach: [] },
};

const bytes = (path: string) => ({ path, source: 'test', outcome: 'ok', body: Buffer.from(path) }) as const;

function collector(part: Partial<Collector> & Pick<Collector, 'collect'>): Collector {
  return { name: 'one', phase: 'sweep', deadlineMs: 1000, ...part };
}

/** Runs collectors against the real clock; what they bring is noted in order. */
async function run(collectors: readonly Collector[], overrides: Partial<PhaseRun> = {}) {
  const start = performance.now();
  const now = () => ({ wall: new Date().toISOString(), offsetMs: performance.now() - start });
  const taken: { path: string; collector: string; offsetMs: number }[] = [];
  const missed: NotGot[] = [];
  await runPhases({
    host: { now, leaveCpu: () => {} } as Host,
    firstLook: { matchedBy: 'all', shims: [], firstStackMs: null },
    inventory: { sandboxes: [], daemons: [], gaps: [] },
    target: { kind: 'node', asked: null, how: 'test' },
    ...{ options, collectors, collectUntilMs: 5000, interruption: new AbortController().signal, progress: SILENT },
    take: (from, { evidence, offsetMs }) => taken.push({ path: evidence.path, collector: from.name, offsetMs }),
    miss: notGot => missed.push(notGot),
    recordSignal: () => undefined,
    ...overrides,
  });
  return { taken, missed, ms: now().offsetMs };
}

test('phases run in the order of volatility, whatever the order of the list', async () => {
  const late = collector({
    name: 'late',
    phase: 'linger',
    collect: async function* () {
      yield bytes('late');
    },
  });
  const early = collector({
    name: 'early',
    phase: 'first-look',
    collect: async function* () {
      yield bytes('early');
    },
  });
  const { taken } = await run([late, early]);
  expect(taken.map(({ path }) => path)).toEqual(['early', 'late']);
});

test('a run that was given twice the usual time gives its parts twice theirs, a short one no less than theirs', async () => {
  const seen: number[] = [];
  const asks = collector({
    deadlineMs: 1000,
    async *collect(capture) {
      seen.push(capture.remainingMs(), timeFor(capture, 300), deadlineOf(capture, 200).deadlineMs);
      yield bytes('asked');
    },
  });
  for (const timeoutMs of [60_000, 5000]) await run([asks], { options: { ...options, timeoutMs } });
  const [patient = 0, ...rest] = seen;
  expect(patient).toBeGreaterThan(1500);
  expect(patient).toBeLessThanOrEqual(2000);
  expect(rest.slice(0, 2)).toEqual([600, 400]);
  expect(rest[2]).toBeLessThanOrEqual(1000);
  expect(rest.slice(3)).toEqual([300, 200]);
});

test('a collector that never returns costs its deadline and no more, and what it brought is kept', async () => {
  const hangs = collector({
    deadlineMs: 100,
    collect: async function* () {
      yield bytes('before');
      await new Promise(() => undefined);
    },
  });
  const next = collector({
    name: 'next',
    phase: 'linger',
    collect: async function* () {
      yield bytes('next');
    },
  });
  const { taken, missed, ms } = await run([hangs, next]);
  expect(taken.map(({ path }) => path)).toEqual(['before', 'next']);
  expect(missed).toMatchObject([{ collector: 'one', phase: 'sweep', outcome: 'timeout' }]);
  expect(ms).toBeLessThan(1500);
});

test('a collector that throws is a gap with its error, not the end of the run', async () => {
  const throws = collector({
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    collect: async function* () {
      throw new Error('no such thing');
    },
  });
  const { missed } = await run([throws]);
  expect(missed).toMatchObject([{ outcome: 'error', detail: expect.stringContaining('no such thing') }]);
});

test('after its deadline a collector may still hand over what it has', async () => {
  const polite = collector({
    deadlineMs: 50,
    collect: async function* (capture: Capture) {
      await sleep(10_000, undefined, { signal: capture.signal }).catch(() => undefined);
      yield bytes('what there was');
    },
  });
  const { taken, missed } = await run([polite]);
  expect(taken).toHaveLength(1);
  expect(missed).toHaveLength(0);
});

test('an interruption ends the phase under way and starts no other', async () => {
  const user = new AbortController();
  const waits = collector({
    collect: async function* (capture: Capture) {
      user.abort('SIGINT');
      await sleep(10_000, undefined, { signal: capture.signal }).catch(() => undefined);
      yield bytes('sealed anyway');
    },
  });
  const next = collector({
    name: 'next',
    phase: 'linger',
    collect: async function* () {
      yield bytes('next');
    },
  });
  const { taken, missed } = await run([waits, next], { interruption: user.signal });
  expect(taken.map(({ path }) => path)).toEqual(['sealed anyway']);
  expect(missed).toMatchObject([{ collector: 'next', detail: 'not started: SIGINT' }]);
});

test('when the time of the run is over, what was not started says so', async () => {
  const { missed, taken } = await run(
    [
      collector({
        collect: async function* () {
          yield bytes('x');
        },
      }),
    ],
    {
      collectUntilMs: 0,
    },
  );
  expect(taken).toHaveLength(0);
  expect(missed).toMatchObject([{ outcome: 'timeout', detail: expect.stringContaining('not started') }]);
});

test('rounds come one per interval from the first, and --skip leaves a collector out', async () => {
  const rounds = collector({
    collect: async function* (capture: Capture) {
      for await (const round of capture.rounds()) yield bytes(`round-${round}`);
    },
  });
  const { taken } = await run([rounds]);
  expect(taken.map(({ path }) => path)).toEqual(['round-1', 'round-2', 'round-3']);
  expect((taken[2]?.offsetMs ?? 0) - (taken[0]?.offsetMs ?? 0)).toBeGreaterThan(15);
  expect((await run([rounds], { options: { ...options, skip: ['one'] } })).taken).toHaveLength(0);
});

test('a collector for sandboxes is not run against the node alone', async () => {
  const only = collector({
    targets: ['sandbox'],
    collect: async function* () {
      yield bytes('x');
    },
  });
  expect((await run([only])).taken).toHaveLength(0);
});

test('what is large is packed before more is asked of who brought it, what is small is not waited for, and nobody is for ever', async () => {
  const order: string[] = [];
  const brings = (name: string, size: number) =>
    collector({
      name,
      deadlineMs: 300,
      collect: async function* () {
        yield { ...bytes(name), body: Buffer.alloc(size) };
        order.push(`${name} is asked for more`);
      },
    });
  const packs = Promise.withResolvers<void>();
  setTimeout(() => {
    order.push('large is packed');
    packs.resolve();
  }, 50);
  const take: PhaseRun['take'] = ({ name }) => (name === 'stuck' ? new Promise(() => undefined) : packs.promise);
  const { missed } = await run([brings('small', 10), brings('large', 2 << 20), brings('stuck', 2 << 20)], { take });
  expect(order).toEqual(['small is asked for more', 'large is packed', 'large is asked for more']);
  expect(missed).toMatchObject([{ what: 'rest of stuck', outcome: 'timeout' }]);
});
