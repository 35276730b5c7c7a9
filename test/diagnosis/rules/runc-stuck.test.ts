import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { runcStuck } from '../../../src/diagnosis/rules/runc-stuck.ts';
import {
  CONTAINER_ID,
  callOf,
  containerOf,
  eventOf,
  factsOf,
  logsOf,
  podThreads,
  processOf,
  processTable,
  SHIM_PID,
  STARTED_AT,
  shimOf,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge, shimDump } from '../judge.ts';

const RUNC = 5834;

const runcRow = (command: string, ageMs: number) =>
  processOf({
    pid: RUNC,
    ppid: SHIM_PID,
    ageMs,
    args: `runc --root /run/containerd/runc/k8s.io --log /b/log.json ${command} ${CONTAINER_ID}`,
  });

/** In a pipe that nobody writes to, for 20 s. */
const runcThread = (partial: Parameters<typeof threadOf>[0] = {}) =>
  threadOf({
    ...{
      pid: RUNC,
      tid: RUNC,
      comm: 'runc',
      role: 'runc',
      state: 'S',
      wchan: 'anon_pipe_read',
      call: callOf('read', 0, '0x3'),
    },
    ...{ stack: '[<0>] anon_pipe_read+0x366/0x410', entry: 'shim/children-4.txt' },
    ...partial,
  });

const held = (command: string, ageMs: number, rest: Partial<Facts> = {}) =>
  factsOf({
    threads: podThreads(runcThread()),
    processes: processTable(runcRow(command, ageMs)),
    containers: [containerOf()],
    shims: [shimOf()],
    ...rest,
  });

describe('runc-stuck', () => {
  it.each(['create', 'start', 'kill', 'delete'])('finds a runc %s that is 12 s old and has not moved', command => {
    const goroutines = [shimDump(`1.6.20-runc-${command}-wait`)];
    const [found] = judge(runcStuck, held(command, 12_000, { goroutines }));
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 12_000,
      says: expect.stringContaining(`runc ${command} ${RUNC} of container app`),
    });
    expect(found?.says).toContain('in read: anon_pipe_read, state S');
    expect(found?.because.map(({ text }) => text).join()).toContain('(*Monitor).Wait');
    expect(found?.links.flatMap(({ about }) => about)).toEqual(
      expect.arrayContaining([`process:${RUNC}`, `thread:${RUNC}`]),
    );
  });

  it('leaves the goroutine to the rule on locks where others wait behind it', () => {
    const dump = shimDump('1.6.20-runc-delete-wait');
    const locks = dump.locks.map(lock => ({ ...lock, waiters: dump.all.slice(0, 1) }));
    expect(locks).toMatchObject([{ name: 'Init.mu', operation: 'Delete' }]);
    const [found] = judge(runcStuck, held('delete', 12_000, { goroutines: [{ ...dump, locks }] }));
    expect(found?.links.flatMap(({ about }) => about).filter(part => part.startsWith('goroutine:'))).toEqual([]);
  });

  it('says where the child of runc waits, in D before anything else', () => {
    const child = threadOf({
      pid: 5840,
      tid: 5840,
      comm: 'runc:[2:INIT]',
      role: 'runc init',
      state: 'D',
      call: callOf('newfstatat', 262),
      stack: '[<0>] request_wait_answer+0x12/0x1f',
    });
    const processes = processTable(runcRow('create', 12_000), processOf({ pid: 5840, ppid: RUNC, args: 'runc init' }));
    const [found] = judge(runcStuck, held('create', 12_000, { threads: podThreads(runcThread(), child), processes }));
    expect(found?.says).toContain('newfstatat of its child 5840 (runc:[2:INIT]): request_wait_answer, state D');
    expect(found?.links.at(-1)?.about).toEqual(['thread:5840']);
  });

  it('is likely for one that moves, or that was seen once', () => {
    expect(
      judge(runcStuck, held('create', 12_000, { threads: podThreads(runcThread({ moved: 'moved' })) })),
    ).toMatchObject([{ verdict: 'likely' }]);
  });

  it('does not fire on a runc younger than 10 s', () => {
    expect(judge(runcStuck, held('create', 9000))).toEqual([]);
    expect(judge(runcStuck, held('delete', 9000))).toEqual([]);
  });

  it('knows a runc delete that is killed at its deadline and begun again: it is always young', () => {
    const failed = eventOf('exit-handling-failed', {
      agoMs: 4000,
      exitedAt: STARTED_AT - 14_000,
      error: 'failed to delete task: context deadline exceeded',
    });
    const [found] = judge(runcStuck, held('delete', 3000, { logs: logsOf([failed]) }));
    expect(found).toMatchObject({ verdict: 'proved', ageMs: 14_000, says: expect.stringContaining('attempt 2') });
  });

  it('finds each runc that the lab has held', () => {
    expect(judge(runcStuck, factsOfBundle('runc-create-held'))).toMatchObject([{ verdict: 'proved' }]);
    expect(judge(runcStuck, factsOfBundle('runc-start-held'))).toMatchObject([{ verdict: 'proved' }]);
    expect(judge(runcStuck, factsOfBundle('runc-delete-held'))).toMatchObject([
      { verdict: 'proved', says: expect.stringContaining('attempt') },
    ]);
  });

  it('does not fire on a running pod, nor on one that containerd found again', () => {
    for (const name of ['healthy', 'containerd-restarted', 'exit-event-lost'])
      expect(judge(runcStuck, factsOfBundle(name))).toEqual([]);
  });
});

describe('runc init at exec.fifo', () => {
  const waiting = threadOf({
    pid: 2700,
    tid: 2700,
    comm: 'runc:[2:INIT]',
    role: 'runc init',
    state: 'S',
    container: CONTAINER_ID,
    wchan: 'wait_for_partner',
    call: callOf('openat', 257),
    stack: '[<0>] wait_for_partner+0x1/0x2',
  });
  const created = (events: Parameters<typeof logsOf>[0]) =>
    factsOf({
      threads: podThreads(waiting),
      processes: processTable(processOf({ pid: 2700, ppid: SHIM_PID })),
      containers: [containerOf({ execFifo: true })],
      logs: logsOf(events),
    });

  it('is the normal state of a created container', () => {
    expect(judge(runcStuck, created([eventOf('create-requested', { agoMs: 600_000 })]))).toEqual([]);
    expect(judge(runcStuck, { ...created([]), logs: null })).toEqual([]);
  });

  it('waits in vain when its start was asked for and no runc is there', () => {
    const [found] = judge(runcStuck, created([eventOf('start-requested', { agoMs: 30_000 })]));
    expect(found).toMatchObject({ verdict: 'likely', ageMs: 30_000, says: expect.stringContaining('nobody runs') });
  });

  it('waits for nothing once the start has returned or failed', () => {
    const asked = eventOf('start-requested', { agoMs: 30_000 });
    expect(judge(runcStuck, created([asked, eventOf('start-returned', { agoMs: 29_000 })]))).toEqual([]);
    expect(judge(runcStuck, created([asked, eventOf('start-failed', { agoMs: 10_000 })]))).toEqual([]);
  });
});
