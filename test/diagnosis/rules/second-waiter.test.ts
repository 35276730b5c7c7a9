import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { Thread } from '../../../src/diagnosis/facts.ts';
import { overlayUmountSync } from '../../../src/diagnosis/rules/overlay-umount-sync.ts';
import { secondWaiter } from '../../../src/diagnosis/rules/second-waiter.ts';
import { factsOf, podThreads, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import {
  GO_IDLE,
  SOMEBODY_SYNCS,
  UMOUNT_BEHIND_LOCK,
  UMOUNT_BEHIND_LOCK_5_4,
  UMOUNT_SYNC,
  UMOUNT2,
} from '../stacks.ts';

const withThreads = (...threads: readonly Thread[]) => factsOf({ threads: podThreads(...threads) });
const waiter = threadOf({ tid: 1421, call: UMOUNT2, stack: UMOUNT_BEHIND_LOCK });
const holder = threadOf({ tid: 1420, call: UMOUNT2, stack: UMOUNT_SYNC });

describe('second-waiter', () => {
  it('names the umount that waits for another one, in a real capture, and takes it for no cause', () => {
    const facts = factsOfBundle('second-waiter');
    const [found, ...rest] = judge(secondWaiter, facts);
    expect(rest).toEqual([]);
    expect(found).toMatchObject({ verdict: 'likely', says: expect.stringContaining('a victim, not the cause') });
    const [sync] = judge(overlayUmountSync, facts);
    const tid = Number(/thread:(\d+)/.exec(sync?.links[0]?.about[0] ?? '')?.[1]);
    expect(found?.says).toContain(`Candidates: thread ${tid} of shim`);
    expect(found?.links[0]?.about).not.toContain(`thread:${tid}`);
    // It waits for what the first one syncs: the chain goes on there.
    expect(found?.links[0]?.waitsFor).toEqual(sync?.links[0]?.waitsFor);
  });

  it.each([
    ['shows the functions of locks', UMOUNT_BEHIND_LOCK_5_4],
    ['leaves them out', UMOUNT_BEHIND_LOCK],
  ])('knows it by its stack, on a kernel that %s', (_, stack) => {
    const facts = withThreads(threadOf({ tid: 1421, call: UMOUNT2, stack }), holder);
    expect(judge(secondWaiter, facts)).toMatchObject([
      { verdict: 'likely', ageMs: 20_000, links: [{ about: ['thread:1421'] }] },
    ]);
    expect(judge(overlayUmountSync, facts).map(({ links }) => links[0]?.about)).toEqual([['thread:1420']]);
  });

  it('is sure of the wait where nobody is seen who might hold the lock, and says so', () => {
    const [found] = judge(secondWaiter, withThreads(waiter));
    expect(found).toMatchObject({
      verdict: 'proved',
      next: [expect.stringContaining('Look for the holder'), expect.anything()],
    });
  });

  it('knows one that waits for a directory', () => {
    const stack =
      '[<0>] rwsem_down_write_slowpath+0x23b/0x4a0\n[<0>] path_openat+0x2f1/0x1100\n[<0>] do_filp_open+0xc3/0x180';
    const opens = threadOf({ tid: 7, comm: 'app', role: 'application', stack });
    expect(judge(secondWaiter, withThreads(opens))).toMatchObject([
      { says: expect.stringContaining('for a directory') },
    ]);
  });

  it('counts those that wait for the same thing, once', () => {
    const other = threadOf({ tid: 1422, call: UMOUNT2, stack: UMOUNT_BEHIND_LOCK, blockedForMs: 9000 });
    expect(judge(secondWaiter, withThreads(waiter, other))).toMatchObject([
      { says: expect.stringMatching(/^thread 1421 of shim 2623 and 1 more have waited for 20\.0 s/), links: [{}, {}] },
    ]);
  });

  it('is silent about the holder, about idle Go, and about one that moved', () => {
    expect(judge(secondWaiter, withThreads(holder))).toEqual([]);
    expect(judge(secondWaiter, withThreads(threadOf({ state: 'S', stack: GO_IDLE, idle: true })))).toEqual([]);
    expect(judge(secondWaiter, withThreads({ ...waiter, moved: 'moved' }))).toEqual([]);
    expect(judge(secondWaiter, withThreads(threadOf({ stack: SOMEBODY_SYNCS })))).toEqual([]);
  });

  it('is not applicable without stacks, of whomever', () => {
    const blind = { ...podThreads(threadOf({ ...waiter, stack: null })), stacks: 'none' as const };
    expect(diagnose(factsOf({ threads: blind }), [secondWaiter]).notApplicable).toHaveLength(1);
    const nodeThreads = { blocked: [], stacks: 'all' as const };
    expect(diagnose(factsOf({ threads: blind, nodeThreads }), [secondWaiter]).notApplicable).toEqual([]);
  });

  it('proves nothing below 5 s', () => {
    expect(judge(secondWaiter, withThreads({ ...waiter, blockedForMs: 4000 }))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });
});
