import { describe, expect, it } from 'vitest';
import { ext4Journal } from '../../../src/diagnosis/rules/ext4-journal.ts';
import { containerOf, factsWithThreads, sweptThread, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { FSYNC_THROTTLED, JBD2_COMMIT, WAITS_FOR_JOURNAL, XFS_READS } from '../stacks.ts';

const committer = (comm = 'jbd2/nvme1n1-8', blockedForMs = 7000) =>
  sweptThread({ pid: 300, tid: 300, comm, stack: JBD2_COMMIT, blockedForMs });
const app = threadOf({ pid: 2700, tid: 2700, comm: 'app', role: 'init', stack: WAITS_FOR_JOURNAL });
describe('ext4-journal', () => {
  it('names the journal that containerd waits for, in a real capture of a slow disk', () => {
    expect(judge(ext4Journal, factsOfBundle('state-behind-delete'))).toMatchObject([
      { says: expect.stringMatching(/^containerd \(thread \d+\) has waited for .* for the journal of ext4 on loop0/) },
    ]);
  });

  it('is silent in real captures where nobody of the pod waits for it', () => {
    for (const name of ['overlay-umount-sync', 'somebody-syncs', 'healthy']) {
      expect(judge(ext4Journal, factsOfBundle(name))).toEqual([]);
    }
  });

  it('is proved by the waiter and the thread that commits', () => {
    const [found] = judge(ext4Journal, factsWithThreads([committer()], [app]));
    expect(found).toMatchObject({ verdict: 'proved', ageMs: 20_000 });
    expect(found?.links).toMatchObject([
      { about: ['thread:2700'], waitsFor: ['filesystem:259:1'] },
      { about: ['filesystem:259:1'], waitsFor: ['device:nvme1n1'] },
    ]);
  });

  it('is likely where nobody commits, or two might', () => {
    expect(judge(ext4Journal, factsWithThreads([], [app]))).toMatchObject([{ verdict: 'likely' }]);
    const two = [committer('jbd2/sdb1-8'), committer('jbd2/sdc1-8')];
    expect(judge(ext4Journal, factsWithThreads(two, [app], { devices: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('knows older names of the places', () => {
    for (const symbol of ['jbd2_log_wait_commit', 'start_this_handle', 'wait_transaction_locked', 'log_wait_commit']) {
      const waiter = threadOf({ ...app, stack: `[<0>] ${symbol}+0x2ef/0x460\n[<0>] ext4_sync_file+0x1/0x2` });
      expect(judge(ext4Journal, factsWithThreads([committer()], [waiter]))).toMatchObject([{ verdict: 'proved' }]);
    }
  });

  it('is silent about a commit that nobody waits for, a wait for the disk itself, and xfs', () => {
    expect(judge(ext4Journal, factsWithThreads([committer()], []))).toEqual([]);
    expect(judge(ext4Journal, factsWithThreads([committer()], [threadOf({ ...app, stack: FSYNC_THROTTLED })]))).toEqual(
      [],
    );
    expect(judge(ext4Journal, factsWithThreads([committer()], [threadOf({ ...app, stack: XFS_READS })]))).toEqual([]);
  });

  it('is silent about waits that are short, in motion, or of others', () => {
    expect(judge(ext4Journal, factsWithThreads([committer()], [{ ...app, blockedForMs: 3000 }]))).toEqual([]);
    expect(judge(ext4Journal, factsWithThreads([committer()], [{ ...app, moved: 'moved' }]))).toEqual([]);
    const neighbour = sweptThread({ pid: 99, tid: 99, comm: 'dd', stack: WAITS_FOR_JOURNAL });
    expect(judge(ext4Journal, factsWithThreads([committer(), neighbour], [], { containers: [containerOf()] }))).toEqual(
      [],
    );
  });
});
