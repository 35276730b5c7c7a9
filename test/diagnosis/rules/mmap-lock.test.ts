import { describe, expect, it } from 'vitest';
import type { Facts, ProcessTable } from '../../../src/diagnosis/facts.ts';
import { elsewhere } from '../../../src/diagnosis/rules/elsewhere.ts';
import { mmapLock } from '../../../src/diagnosis/rules/mmap-lock.ts';
import { factsOf, podThreads, processOf, processTable, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { MMAP_BEHIND_LOCK, REMOTE_FAULT } from '../stacks.ts';

const hung = (file: string): ProcessTable => ({
  ...processTable(processOf({ pid: 2700, args: '[app]' })),
  hung: [
    { pid: 2700, file, cite: { entry: 'manifest.json', line: null, text: `task/2700/${file} of 2700 did not answer` } },
  ],
});
const maps = threadOf({ pid: 2700, tid: 2701, comm: 'app', role: 'init', stack: MMAP_BEHIND_LOCK });
const faults = threadOf({
  pid: 2700,
  tid: 2700,
  comm: 'app',
  role: 'init',
  stack: '[<0>] filemap_fault+0xa0e/0x1650\n[<0>] handle_mm_fault+0xd0/0x310',
});
const withHung = (file: string, rest: Partial<Facts> = {}) =>
  factsOf({ processes: hung(file), threads: podThreads(maps, faults), ...rest });

describe('mmap-lock', () => {
  it('names the process that hangs ps, and who has its lock, in a real capture of a node', () => {
    const [found, ...rest] = judge(mmapLock, factsOfBundle('mmap-lock'));
    expect(rest).toEqual([]);
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringMatching(/its mmap_lock is taken by mmap-hostage \d+, which waits in filemap_fault; ps, top/),
    });
  });

  it.each(['cmdline', 'environ', 'smaps_rollup', 'task/2700/cmdline'])(
    'is proved by a read of %s that hung and a thread in the memory of the process',
    file => {
      expect(judge(mmapLock, withHung(file))).toMatchObject([
        {
          verdict: 'proved',
          ageMs: 20_000,
          links: [{ about: ['thread:2701'], waitsFor: ['thread:2700'] }, { waitsFor: [] }],
        },
      ]);
    },
  );

  it('finds the reader of its memory that faults in its name', () => {
    const remote = threadOf({ pid: 99, tid: 99, comm: 'gdb', role: 'other', stack: REMOTE_FAULT, moved: 'once' });
    const facts = withHung('cmdline', { threads: podThreads(maps), nodeThreads: { blocked: [remote], stacks: 'all' } });
    expect(judge(mmapLock, facts)[0]?.links.at(-1)).toMatchObject({ about: ['thread:99'] });
  });

  it('blames no reader where two might have it, and nobody who reads the memory of the process itself', () => {
    const remote = (pid: number) =>
      threadOf({ pid, tid: pid, comm: 'gdb', role: 'other', stack: REMOTE_FAULT, moved: 'once' });
    const two = { blocked: [remote(98), remote(99)], stacks: 'all' as const };
    const [found] = judge(mmapLock, withHung('cmdline', { threads: podThreads(maps), nodeThreads: two }));
    expect(found?.says).toMatch(/its mmap_lock is taken; ps/);
    const awake = { ...faults, state: 'S' };
    expect(judge(mmapLock, withHung('cmdline', { threads: podThreads(maps, awake) }))[0]?.links).toHaveLength(1);
  });

  it('counts a process of containerd', () => {
    const own = { ...maps, comm: 'containerd', role: 'other' as const, moved: 'once' as const };
    const facts = withHung('cmdline', { threads: podThreads(), nodeThreads: { blocked: [own], stacks: 'all' } });
    expect(judge(mmapLock, facts)).toMatchObject([{ verdict: 'proved' }]);
  });

  it('knows it by a probe of its own that was left behind', () => {
    const probe = {
      pid: 5,
      request: 'items',
      item: '/proc/2700/maps',
      offsetMs: 1,
      waitedMs: 1000,
      state: 'D',
      wchan: 'down_read',
    };
    const stuckProbes = [
      {
        ...probe,
        ...{ syscall: null, stack: null, fds: [], children: [], reaped: false },
        cite: { entry: 'manifest.json', line: null, text: 'x' },
      },
    ];
    const facts = withHung('stat', { stuckProbes });
    expect(judge(mmapLock, facts)).toMatchObject([{ verdict: 'proved' }]);
    const elsewhere = stuckProbes.map(own => ({ ...own, item: '/proc/2700/stat' }));
    expect(judge(mmapLock, withHung('stat', { stuckProbes: elsewhere }))).toEqual([]);
  });

  it('is likely without a thread that shows it, of unknown age', () => {
    const threads = podThreads(threadOf({ ...maps, state: 'S', stack: '[<0>] do_sys_pause+0x1/0x2', idle: true }));
    expect(judge(mmapLock, withHung('cmdline', { threads }))).toMatchObject([{ verdict: 'possible', ageMs: null }]);
  });

  it('is silent about a process in execve, whose stat hangs too, and about another pod: that is a mention elsewhere', () => {
    expect(judge(mmapLock, withHung('stat'))).toEqual([]);
    const foreign = withHung('cmdline', { threads: podThreads() });
    expect(judge(mmapLock, foreign)).toEqual([]);
    expect(judge(elsewhere, foreign)).toMatchObject([
      { kind: 'context', says: expect.stringContaining('not of this pod') },
    ]);
    expect(judge(elsewhere, withHung('cmdline'))).toEqual([]);
  });
});
