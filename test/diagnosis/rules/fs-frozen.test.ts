import { describe, expect, it } from 'vitest';
import type { DiskChain, Facts, Thread } from '../../../src/diagnosis/facts.ts';
import { fsFrozen } from '../../../src/diagnosis/rules/fs-frozen.ts';
import { deviceOf, devicesOf, factsOf, podThreads, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { CGROUP_ATTACH, FSYNC_THROTTLED, MOUNT, MOUNT_FROZEN, RENAME_FROZEN, WRITE_FROZEN_3_10 } from '../stacks.ts';

const chain: DiskChain = {
  ...{ role: "containerd's root", path: '/var/lib/containerd', container: null, mountPoint: '/var/lib/containerd' },
  ...{
    fsType: 'xfs',
    device: '259:1',
    devices: ['nvme1n1'],
    cite: { entry: 'node/disks.txt', line: 1, text: "containerd's root" },
  },
};
const containerd = (partial: Parameters<typeof threadOf>[0]) =>
  threadOf({
    pid: 812,
    tid: 6921,
    comm: 'containerd',
    role: 'other',
    moved: 'once',
    entry: 'node/blocked.txt',
    ...partial,
  });
const withBlocked = (blocked: readonly Thread[], rest: Partial<Facts> = {}) =>
  factsOf({
    nodeThreads: { blocked, stacks: 'all' },
    threads: podThreads(),
    devices: devicesOf(deviceOf()),
    mounts: { all: [], others: 0, chains: [chain] },
    ...rest,
  });

describe('fs-frozen', () => {
  it('names the frozen root of containerd, in a real capture', () => {
    expect(judge(fsFrozen, factsOfBundle('fs-frozen'))).toMatchObject([
      { verdict: 'proved', says: expect.stringMatching(/^\/lab\/disk \(loop0\) is frozen: containerd \(thread \d+\)/) },
    ]);
  });

  it('names the frozen filesystem below a mount that hangs, in a real capture', () => {
    const [found] = judge(fsFrozen, factsOfBundle('overlay-mount-blocked'));
    expect(found).toMatchObject({ verdict: 'proved' });
    expect(found?.links.at(-1)).toMatchObject({ about: ['filesystem:7:0'], waitsFor: [] });
  });

  it('is proved by the wait and an idle device, and likely while the device is not known', () => {
    const renames = containerd({ stack: RENAME_FROZEN });
    expect(judge(fsFrozen, withBlocked([renames]))).toMatchObject([{ verdict: 'proved', ageMs: 20_000 }]);
    expect(judge(fsFrozen, withBlocked([renames], { mounts: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('blames no disk where containerd has two, and nobody sees which of them it waits for', () => {
    const renames = containerd({ stack: RENAME_FROZEN });
    const layer: DiskChain = {
      ...chain,
      role: 'writable layer',
      device: '7:0',
      devices: ['loop0'],
      mountPoint: '/snap',
    };
    const two = { all: [], others: 0, chains: [chain, layer] };
    const [found] = judge(fsFrozen, withBlocked([renames], { mounts: two }));
    expect(found).toMatchObject({ verdict: 'likely', says: expect.stringMatching(/^A filesystem is frozen: /) });
    expect(found?.links[0]?.waitsFor).toEqual([]);
    const others = { ...two, chains: [chain, layer, { ...layer, container: 'c1', device: '259:1' }] };
    expect(judge(fsFrozen, withBlocked([renames], { mounts: others }))).toMatchObject([{ verdict: 'proved' }]);
    const one = { ...two, chains: [chain, { ...layer, device: '259:1' }] };
    expect(judge(fsFrozen, withBlocked([renames], { mounts: one }))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('knows kernels that have no percpu_rwsem in it', () => {
    expect(judge(fsFrozen, withBlocked([containerd({ stack: WRITE_FROZEN_3_10 })]))).toMatchObject([
      { verdict: 'proved' },
    ]);
  });

  it('is not sure while the device has something to do', () => {
    const samples = [1, 1, 1].map((inFlight, index) => ({
      ...{ offsetMs: index * 1000, inFlight, cite: { entry: 'node/samples.jsonl', line: index + 1, text: 'nvme1n1' } },
    }));
    const devices = devicesOf(deviceOf({ samples, alwaysInFlight: true }));
    expect(judge(fsFrozen, withBlocked([containerd({ stack: RENAME_FROZEN })], { devices }))).toMatchObject([
      { verdict: 'likely' },
    ]);
  });

  it('is silent about a disk that is slow, about cgroups, and about others on the node', () => {
    expect(judge(fsFrozen, withBlocked([containerd({ stack: FSYNC_THROTTLED })]))).toEqual([]);
    expect(judge(fsFrozen, withBlocked([containerd({ stack: CGROUP_ATTACH })]))).toEqual([]);
    expect(judge(fsFrozen, withBlocked([containerd({ comm: 'backup', stack: RENAME_FROZEN })]))).toEqual([]);
  });

  it('is not applicable without stacks', () => {
    const threads = { ...podThreads(threadOf({ call: MOUNT, stack: MOUNT_FROZEN })), stacks: 'none' as const };
    expect(judge(fsFrozen, factsOf({ threads }))).toEqual([]);
  });

  it('proves nothing below 5 s', () => {
    expect(judge(fsFrozen, withBlocked([containerd({ stack: RENAME_FROZEN, blockedForMs: 300 })]))).toMatchObject([
      { verdict: 'possible' },
    ]);
  });
});
