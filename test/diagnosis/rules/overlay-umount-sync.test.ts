import { describe, expect, it } from 'vitest';
import type { Facts, Thread } from '../../../src/diagnosis/facts.ts';
import { overlayUmountSync } from '../../../src/diagnosis/rules/overlay-umount-sync.ts';
import { callOf, containerOf, deviceOf, devicesOf, factsOf, podThreads, ratesOf, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';

const STACK = `[<0>] wb_wait_for_completion+0x81/0xb0
[<0>] __writeback_inodes_sb_nr+0x9f/0xd0
[<0>] sync_filesystem+0x31/0xa0
[<0>] ovl_sync_fs+0x59/0x90 [overlay]
[<0>] sync_filesystem+0x7e/0xa0
[<0>] generic_shutdown_super+0x35/0x150
[<0>] kill_anon_super+0x12/0x40
[<0>] deactivate_locked_super+0x2f/0xb0
[<0>] cleanup_mnt+0xbe/0x150`;

type Partial1 = Parameters<typeof threadOf>[0];

const stuck = (partial: Partial1 = {}): Thread =>
  threadOf({ call: callOf('umount2', 166, '0xc000300120'), wchan: 'wb_wait_for_completion', stack: STACK, ...partial });

const busy = devicesOf(
  deviceOf({ alwaysInFlight: true, rates: ratesOf({ utilPercent: 100, writtenBytesPerSecond: 4 * 2 ** 20 }) }),
);

const sample = {
  offsetMs: 0,
  dirtyBytes: 312 * 2 ** 20,
  writebackBytes: 0,
  cite: { entry: 'node/samples.jsonl', line: 3, text: 'Dirty: …' },
};
const dirty: Facts['dirty'] = {
  of: 'device',
  samples: [sample],
  bytes: 312 * 2 ** 20,
  device: 'nvme1n1',
  writtenBytesPerSecond: 4 * 2 ** 20,
  drainMs: 78_000,
};

const chain = {
  role: "containerd's root",
  path: '/var/lib/containerd',
  container: null,
  mountPoint: '/var/lib/containerd',
} as const;
const mounts: Facts['mounts'] = {
  ...{ all: [], others: 0 },
  chains: [
    {
      ...chain,
      fsType: 'ext4',
      device: '259:1',
      devices: ['nvme1n1'],
      cite: { entry: 'node/disks.txt', line: 1, text: 'x' },
    },
  ],
};

const verdicts = (facts: Facts) => judge(overlayUmountSync, facts).map(({ verdict }) => verdict);

describe('an unmount that waits for writeback', () => {
  it('finds a containerd that unmounts the overlay of a create, for a pod that waits for that', () => {
    const containerd = stuck({
      ...{ pid: 812, tid: 830, comm: 'containerd', role: 'other', moved: 'once', entry: 'node/blocked.txt' },
    });
    const facts = (initPid: number | null) =>
      factsOf({
        ...{ threads: podThreads(), nodeThreads: { blocked: [containerd], stacks: 'all' } },
        ...{ containers: [containerOf({ initPid })], devices: busy, dirty, mounts },
      });
    const [found] = judge(overlayUmountSync, facts(null));
    expect(found).toMatchObject({
      // The node's threads are looked at once.
      verdict: 'likely',
      says: expect.stringMatching(/^containerd \(thread 830\) has been unmounting a container's disk for 20\.0 s/),
    });
    expect(found?.links[0]?.about).toEqual(['thread:830', 'daemon:812']);
    expect(judge(overlayUmountSync, facts(2700))).toEqual([]);
  });

  it('is proved by a real one, with its age, its disk and how long it will take', () => {
    for (const name of ['overlay-umount-sync', 'state-behind-delete']) {
      const [found, ...more] = judge(overlayUmountSync, factsOfBundle(name));
      expect(more).toEqual([]);
      expect(found).toMatchObject({ verdict: 'proved', ageFrom: expect.stringContaining("the scheduler's clock") });
      expect(found?.ageMs).toBeGreaterThan(5000);
      expect(found?.says).toMatch(
        /for \d+\.\d s: .* on \/lab\/disk \(loop0\), at most \d+\.\d MiB \(all that .*\), and loop0 writes 1\.\d MiB\/s: at most \d+ min/,
      );
      const texts = found?.because.map(({ text }) => text).join('\n');
      for (const evidence of [
        'umount2',
        'ovl_sync_fs',
        'generic_shutdown_super',
        'cleanup_mnt',
        'Dirty',
        'loop0',
        '166 0x',
      ]) {
        if (evidence !== 'umount2') expect(texts).toContain(evidence);
      }
      expect(found?.links.map(({ waitsFor }) => waitsFor)).toEqual([['filesystem:7:0'], ['device:loop0']]);
    }
  });

  it('cites lines that say what they are cited for', () => {
    const facts = factsOf({ threads: podThreads(stuck()), devices: busy, dirty, mounts });
    const [found] = judge(overlayUmountSync, facts);
    expect(found?.because.find(({ text }) => text.includes('ovl_sync_fs'))).toMatchObject({
      entry: 'shim/threads-4.txt',
      line: 6,
    });
    expect(found?.says).toContain(
      '312.0 MiB at the time of the capture, and nvme1n1 writes 4.0 MiB/s: some 1 min 18 s more',
    );
  });

  it('is likely when only the scheduler says that it stands, or neither dirty pages nor a busy device are there', () => {
    expect(verdicts(factsOf({ threads: podThreads(stuck()), devices: busy }))).toEqual(['likely']);
    expect(verdicts(factsOf({ threads: podThreads(stuck()), dirty }))).toEqual(['proved']);
    expect(verdicts(factsOf({ threads: podThreads(stuck()) }))).toEqual(['likely']);
    expect(verdicts(factsOf({ threads: podThreads(stuck({ moved: 'once' })), devices: busy, dirty }))).toEqual([
      'likely',
    ]);
  });

  it('is likely when it was woken in between and is still in the same umount2', () => {
    const woken = stuck({ moved: 'moved', inSameCall: { looks: 4, forMs: 6000 } });
    const [found] = judge(overlayUmountSync, factsOf({ threads: podThreads(woken), devices: busy, dirty }));
    expect(found).toMatchObject({
      verdict: 'likely',
      ageMs: 6000,
      ageFrom: expect.stringContaining('the same umount2 in 4 looks'),
    });
  });

  it('is no more than possible when it is younger than 5 s', () => {
    expect(verdicts(factsOf({ threads: podThreads(stuck({ blockedForMs: 4000 })), devices: busy, dirty }))).toEqual([
      'possible',
    ]);
  });

  it('is found on arm64, where umount2 has another number, and on kernels that have no wait channels', () => {
    const arm = stuck({ call: callOf('umount2', 39), wchan: null });
    expect(verdicts(factsOf({ threads: podThreads(arm), dirty }))).toEqual(['proved']);
  });
});

describe('what only resembles it', () => {
  const quiet: readonly (readonly [string, Partial1])[] = [
    [
      'somebody who ran sync(1)',
      {
        call: callOf('sync', 162),
        stack: 'wb_wait_for_completion+0x1/0x2\novl_sync_fs+0x1/0x2\niterate_supers+0x1/0x2\nksys_sync+0x1/0x2',
      },
    ],
    [
      'the kernel that takes a cgroup down',
      {
        call: null,
        role: 'other',
        comm: 'kworker/1:2',
        stack: 'wb_wait_for_completion+0x1/0x2\nwb_shutdown+0x1/0x2\ncss_free_rwork_fn+0x1/0x2',
      },
    ],
    ['a mount', { call: callOf('mount', 165) }],
    [
      'an unmount of something else',
      {
        stack:
          'wb_wait_for_completion+0x1/0x2\nsync_filesystem+0x1/0x2\ngeneric_shutdown_super+0x1/0x2\ncleanup_mnt+0x1/0x2',
      },
    ],
    ['an unmount that another process makes', { role: 'other', comm: 'dockerd' }],
    ['one that waits for the lock of somebody else', { stack: STACK.slice(STACK.indexOf('[<0>] ovl_sync_fs')) }],
    [
      'the same with the function of the lock in sight',
      { stack: `rwsem_down_read_slowpath+0x1/0x2\n${STACK.slice(STACK.indexOf('[<0>] ovl_sync_fs'))}` },
    ],
    ['a thread that moved', { moved: 'moved', inSameCall: { looks: 1, forMs: 0 } }],
    ['a thread that is held by a tracer', { state: 't', wchan: 'ptrace_stop' }],
  ];

  it.each(quiet)('is not taken for it: %s', (_, partial) => {
    expect(verdicts(factsOf({ threads: podThreads(stuck(partial)), devices: busy, dirty }))).toEqual([]);
  });

  it.each([
    'healthy',
    'somebody-syncs',
    'umount-delayed',
    'overlay-mount-blocked',
    'fs-frozen',
    'freezer',
    'fuse-hang',
  ])('is not taken for it in a real capture: %s', name => {
    expect(verdicts(factsOfBundle(name))).toEqual([]);
  });

  it('is told apart where both are there: the second waiter is not the cause', () => {
    const facts = factsOfBundle('second-waiter');
    const waiting = facts.threads?.all.filter(({ call, state }) => call?.name === 'umount2' && state === 'D') ?? [];
    expect(waiting).toHaveLength(2);
    const [found, ...more] = judge(overlayUmountSync, facts);
    expect(more).toEqual([]);
    expect(found?.links[0]?.about).toEqual([
      `thread:${waiting.find(({ wchan }) => wchan === 'wb_wait_for_completion')?.tid}`,
    ]);
  });
});
