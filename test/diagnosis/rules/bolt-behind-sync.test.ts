import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/diagnosis/facts.ts';
import { boltBehindSync } from '../../../src/diagnosis/rules/bolt-behind-sync.ts';
import { callOf, factsOf, threadOf } from '../facts-of.ts';
import { CONTAINERD_PID, containerdDumps, judge } from '../judge.ts';

const DUMPS = ['1.6.20-bolt-fdatasync-1', '1.6.20-bolt-fdatasync-2'];

const syncing = threadOf({
  pid: CONTAINERD_PID,
  tid: 830,
  comm: 'containerd',
  role: 'other',
  call: callOf('fdatasync', 75),
  moved: 'once',
  blockedForMs: 12_000,
  entry: 'node/blocked.txt',
});

const bolt = (fixtures: readonly string[], rest: Partial<Facts> = {}) =>
  judge(boltBehindSync, factsOf({ daemonGoroutines: containerdDumps(fixtures), ...rest }));

describe('bolt-behind-sync', () => {
  it('is proved by the commit in fdatasync, the writers behind it, and the age of the thread', () => {
    const [found] = bolt(DUMPS.slice(1), { nodeThreads: { blocked: [syncing], stacks: 'all' } });
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 12_000,
      says: expect.stringContaining('11 writers wait behind it'),
    });
    expect(found?.links[0]).toMatchObject({
      about: [`daemon:${CONTAINERD_PID}`, expect.stringMatching(/^goroutine:812:/)],
      waitsFor: ['thread:830'],
    });
  });

  it('knows from a dump before how long they have waited at least', () => {
    const [found, ...others] = bolt(DUMPS);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      verdict: 'proved',
      ageMs: 10_000,
      ageFrom: expect.stringContaining('stood there in daemons/containerd-812-1.txt too'),
    });
  });

  it('does not need the state to say so: a goroutine in a system call may be called runnable', () => {
    const dumps = containerdDumps(DUMPS.slice(1)).map(dump => ({
      ...dump,
      all: dump.all.map(goroutine => ({ ...goroutine, state: 'runnable' })),
    }));
    expect(judge(boltBehindSync, factsOf({ daemonGoroutines: dumps }))).toHaveLength(1);
  });

  it('is likely while nobody waits behind it, and possible without an age', () => {
    const alone = containerdDumps(DUMPS.slice(1)).map(dump => ({
      ...dump,
      all: dump.all.filter(({ frames }) => !frames.some(({ function: name }) => name.endsWith('beginRWTx'))),
    }));
    expect(
      judge(boltBehindSync, factsOf({ daemonGoroutines: alone, nodeThreads: { blocked: [syncing], stacks: 'all' } })),
    ).toMatchObject([{ verdict: 'likely' }]);
    expect(bolt(DUMPS.slice(1))).toMatchObject([{ verdict: 'possible', ageMs: null }]);
  });

  it('does not fire on waiters alone, nor on a containerd that is well', () => {
    const waiting = containerdDumps(DUMPS.slice(1)).map(dump => ({
      ...dump,
      all: dump.all.filter(({ frames }) => !frames.some(({ function: name }) => name.endsWith('(*Tx).Commit'))),
    }));
    expect(judge(boltBehindSync, factsOf({ daemonGoroutines: waiting }))).toEqual([]);
    for (const name of ['1.6.20-healthy', '1.6.20-log-lock-2', '1.6.20-cni-add']) expect(bolt([name])).toEqual([]);
  });
});
