import { describe, expect, it } from 'vitest';
import type { Facts, MountFact, Thread } from '../../../src/diagnosis/facts.ts';
import { nfsHang } from '../../../src/diagnosis/rules/nfs-hang.ts';
import { factsOf, kernelEventOf, podThreads, STARTED_AT, threadOf } from '../facts-of.ts';
import { judge } from '../judge.ts';
import { FUSE_STAT, GO_IDLE, NFS_STAT } from '../stacks.ts';

const mount = (partial: Partial<MountFact> = {}): MountFact => ({
  ...{ id: 90, device: '0:61', root: '/', type: 'nfs4', source: 'nas:/export', options: [], superOptions: ['hard'] },
  ...{ mountPoint: '/var/lib/kubelet/pods/0d6f/volumes/kubernetes.io~nfs/data', upper: null, volatile: false },
  ...{
    ofPod: true,
    container: null,
    cite: { entry: 'node/mountinfo', line: 40, text: '90 27 0:61 / … - nfs4 nas:/export' },
  },
  ...partial,
});
const app = threadOf({ pid: 2700, tid: 2700, comm: 'app', role: 'init', stack: NFS_STAT });
const other = (comm: string): Thread => ({ ...app, pid: 99, tid: 99, comm, role: 'other', moved: 'once' });
const withThreads = (own: readonly Thread[], blocked: readonly Thread[] = [], rest: Partial<Facts> = {}) =>
  factsOf({
    ...{ threads: podThreads(...own), nodeThreads: { blocked, stacks: 'all' } },
    mounts: { all: [mount()], others: 0, chains: [] },
    ...rest,
  });

/** NFS is not in the lab: stacks and messages are written by hand. */
describe('nfs-hang', () => {
  it('is proved by the frames in a thread of the pod and an nfs mount of the pod', () => {
    const [found] = judge(nfsHang, withThreads([app]));
    expect(found).toMatchObject({ verdict: 'proved', says: expect.stringContaining('the NFS server of nas:/export') });
    expect(found?.links).toMatchObject([
      { about: ['thread:2700'], waitsFor: ['filesystem:0:61'] },
      { about: ['filesystem:0:61'] },
    ]);
  });

  it('is likely where the mount is not known to be the pod’s', () => {
    const mounts = { all: [mount({ ofPod: false })], others: 0, chains: [] };
    expect(judge(nfsHang, withThreads([app], [], { mounts }))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(nfsHang, withThreads([app], [], { mounts: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('waits in S as well as in D, and is known by its wait channel where stacks cannot be read', () => {
    expect(judge(nfsHang, withThreads([{ ...app, state: 'S' }]))).toMatchObject([{ verdict: 'proved' }]);
    const blind: Thread = { ...app, stack: null, wchan: 'rpc_wait_bit_killable' };
    expect(judge(nfsHang, withThreads([blind]))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('cites the kernel, which names the server', () => {
    const said = kernelEventOf({ kind: 'nfs-not-responding', text: 'nfs: server nas not responding, still trying' });
    const kernel = { events: [said], from: STARTED_AT, to: STARTED_AT };
    expect(judge(nfsHang, withThreads([app], [], { kernel }))[0]?.because).toContainEqual(said.cite);
  });

  it("counts the kubelet's unmount of a volume of this pod", () => {
    expect(judge(nfsHang, withThreads([], [other('umount.nfs4')]))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(nfsHang, withThreads([], [other('umount.nfs4')], { mounts: null }))).toEqual([]);
  });

  it('is silent about the same frames in another pod, about FUSE, and about idle Go', () => {
    expect(judge(nfsHang, withThreads([], [other('nginx')]))).toEqual([]);
    expect(judge(nfsHang, withThreads([threadOf({ ...app, stack: FUSE_STAT })]))).toEqual([]);
    expect(judge(nfsHang, withThreads([threadOf({ state: 'S', stack: GO_IDLE, idle: true })]))).toEqual([]);
  });

  it('proves nothing below 5 s, and says nothing of what moves', () => {
    expect(judge(nfsHang, withThreads([{ ...app, blockedForMs: 1200 }]))).toMatchObject([{ verdict: 'possible' }]);
    expect(judge(nfsHang, withThreads([{ ...app, moved: 'moved' }]))).toEqual([]);
  });
});
