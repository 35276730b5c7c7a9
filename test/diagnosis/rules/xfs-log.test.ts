import { describe, expect, it } from 'vitest';
import { xfsLog } from '../../../src/diagnosis/rules/xfs-log.ts';
import { factsWithThreads, sweptThread, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { WAITS_FOR_JOURNAL, XFS_LOG_FULL, XFS_READS } from '../stacks.ts';

const worker = (device: string) =>
  sweptThread({
    pid: 39,
    tid: 39,
    comm: `kworker/u8:2+xfs-cil/${device}`,
    stack: '[<0>] xlog_state_get_iclog_space+0x101/0x2d0',
  });
const stranger = sweptThread({ pid: 99, tid: 99, comm: 'mkdir', stack: XFS_LOG_FULL });
const app = threadOf({ pid: 2700, tid: 2700, comm: 'app', role: 'init', stack: XFS_LOG_FULL });
describe('xfs-log', () => {
  it('names the full log, in a real capture of a node', () => {
    const [found] = judge(xfsLog, factsOfBundle('xfs-log'));
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringMatching(/^The log of XFS on loop\d is full: mkdir \d+ has waited for .* for room in it/),
    });
    expect(found?.because.map(({ text }) => text)).toContainEqual(expect.stringContaining('xlog_grant_head_wait'));
  });

  it('is proved by a thread of the pod that did not move', () => {
    expect(judge(xfsLog, factsWithThreads([], [app]))).toMatchObject([{ verdict: 'proved', ageMs: 20_000 }]);
    expect(judge(xfsLog, factsWithThreads([], [{ ...app, moved: 'once' }]))).toMatchObject([{ verdict: 'likely' }]);
  });

  it("counts another program's wait where it is for the disk of the pod", () => {
    expect(judge(xfsLog, factsWithThreads([stranger, worker('nvme1n1')], []))).toMatchObject([
      { verdict: 'proved', links: [{ waitsFor: ['filesystem:259:1'] }, { waitsFor: ['device:nvme1n1'] }] },
    ]);
    expect(judge(xfsLog, factsWithThreads([stranger, worker('sdz')], []))).toEqual([]);
    expect(judge(xfsLog, factsWithThreads([stranger], []))).toEqual([]);
  });

  it('is silent about a slow read, about ext4, and about waits that are short or in motion', () => {
    for (const thread of [
      threadOf({ ...app, stack: XFS_READS }),
      threadOf({ ...app, stack: WAITS_FOR_JOURNAL }),
      { ...app, blockedForMs: 4000 },
      { ...app, moved: 'moved' as const },
    ]) {
      expect(judge(xfsLog, factsWithThreads([], [thread]))).toEqual([]);
    }
  });
});
