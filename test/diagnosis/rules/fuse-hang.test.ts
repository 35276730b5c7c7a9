import { describe, expect, it } from 'vitest';
import type { Facts, FuseConnection, Thread } from '../../../src/diagnosis/facts.ts';
import { fuseHang } from '../../../src/diagnosis/rules/fuse-hang.ts';
import { eventOf, factsOf, logsOf, podThreads, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { FUSE_STAT, GO_IDLE, NFS_STAT } from '../stacks.ts';

const init = threadOf({ pid: 2710, tid: 2710, comm: 'runc:[2:INIT]', role: 'runc init', state: 'S', stack: FUSE_STAT });
const connection = (partial: Partial<FuseConnection> = {}): FuseConnection => ({
  ...{ connection: 52, waiting: 3, mounts: [], ofPod: true },
  cite: { entry: 'node/fuse.txt', line: 2, text: '/sys/fs/fuse/connections/52/waiting: 3' },
  ...partial,
});
const withThreads = (own: readonly Thread[], rest: Partial<Facts> = {}) =>
  factsOf({ threads: podThreads(...own), fuse: [connection()], ...rest });

describe('fuse-hang', () => {
  it('names the volume that does not answer runc init, in S and not in D, in a real capture', () => {
    const [found] = judge(fuseHang, factsOfBundle('fuse-hang'));
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringMatching(
        /^runc init \d+ has waited for .* for the FUSE filesystem at \/lab\/volume \(fuse\), with one request unanswered/,
      ),
    });
    expect(found?.because).toContainEqual(expect.objectContaining({ entry: 'node/fuse.txt' }));
  });

  it('is likely where the connections were not captured, for want of a mounted fusectl', () => {
    const [found] = judge(fuseHang, { ...factsOfBundle('fuse-hang'), fuse: null });
    expect(found).toMatchObject({ verdict: 'likely', says: expect.stringContaining('/lab/volume') });
  });

  it('is proved by the frames and a connection with unanswered requests', () => {
    expect(judge(fuseHang, withThreads([init]))).toMatchObject([
      { verdict: 'proved', links: [{ about: ['thread:2710'], waitsFor: ['fuse:52'] }, { about: ['fuse:52'] }] },
    ]);
    expect(judge(fuseHang, withThreads([{ ...init, state: 'D' }]))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('is likely where nothing is unanswered, or two connections might be meant', () => {
    expect(judge(fuseHang, withThreads([init], { fuse: [connection({ waiting: 0 })] }))).toMatchObject([
      { verdict: 'likely' },
    ]);
    const two = [connection({ ofPod: false }), connection({ connection: 53, ofPod: false })];
    expect(judge(fuseHang, withThreads([init], { fuse: two }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('is silent about an endpoint that is not connected: that is an error, and nobody waits', () => {
    const logs = logsOf([eventOf('other', { error: 'stat /volume: transport endpoint is not connected' })]);
    expect(judge(fuseHang, withThreads([], { logs, fuse: [connection({ waiting: 0 })] }))).toEqual([]);
  });

  it('is silent about the same frames in another pod, a FUSE server that idles, NFS, and idle Go', () => {
    const silent: readonly Thread[] = [
      { ...init, role: 'other', pid: 99, tid: 99 },
      threadOf({ ...init, stack: '[<0>] fuse_dev_do_read+0x2a4/0x8b0\n[<0>] fuse_dev_read+0x5c/0x80' }),
      threadOf({ ...init, stack: NFS_STAT }),
      threadOf({ state: 'S', stack: GO_IDLE, idle: true }),
    ];
    const [foreign, ...own] = silent;
    expect(judge(fuseHang, withThreads(own))).toEqual([]);
    expect(
      judge(fuseHang, factsOf({ nodeThreads: { blocked: foreign === undefined ? [] : [foreign], stacks: 'all' } })),
    ).toEqual([]);
  });

  it('proves nothing below 5 s, and says nothing of what moves', () => {
    expect(judge(fuseHang, withThreads([{ ...init, blockedForMs: 900 }]))).toMatchObject([{ verdict: 'possible' }]);
    expect(judge(fuseHang, withThreads([{ ...init, moved: 'moved' }]))).toEqual([]);
  });
});
