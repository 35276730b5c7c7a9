import { describe, expect, it } from 'vitest';
import type {
  Device,
  DeviceRates,
  Facts,
  LogEvent,
  PressureFacts,
  Writer,
  WriterFacts,
} from '../../../src/diagnosis/facts.ts';
import { diskCapped } from '../../../src/diagnosis/rules/disk-capped.ts';
import {
  containerOf,
  deviceOf,
  devicesOf,
  eventOf,
  factsOf,
  logsOf,
  podThreads,
  ratesOf,
  threadOf,
} from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { CSS_FREE, FSYNC_THROTTLED, FUSE_STAT, GO_IDLE, SOMEBODY_SYNCS, UMOUNT_SYNC, UMOUNT2 } from '../stacks.ts';

const full = (partial: Partial<DeviceRates> = {}) =>
  ratesOf({
    ...{ seconds: 1, writesPerSecond: 400, writtenBytesPerSecond: 4 * 2 ** 20, utilPercent: 100 },
    ...{ awaitMs: 310, queueLength: 120, completed: 400 },
    ...partial,
  });
const capped = (partial: Partial<Device> = {}): Device =>
  deviceOf({
    rates: full({ seconds: 2, completed: 800 }),
    intervals: [full(), full()],
    alwaysInFlight: true,
    ...partial,
  });

const cite = { entry: 'node/samples.jsonl', line: 3, text: '/proc/pressure/io: some avg10=98.00 full avg10=91.00' };
const share = (some: number, full10: number) => ({
  ...{ some, full: full10, avg10Some: some * 100, avg10Full: full10 * 100, avg60Full: full10 * 100, series: [], cite },
});
const pressed: PressureFacts = { node: { io: share(0.98, 0.91), memory: share(0, 0), cpu: null }, pod: new Map() };

const unmounting = threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC });
const withDisk = (device: Device, rest: Partial<Facts> = {}) =>
  factsOf({ devices: devicesOf(device), threads: podThreads(unmounting), pressure: pressed, ...rest });

const writer = (partial: Partial<Writer>): Writer => ({
  ...{ cgroup: '/kubepods/podx', name: 'shop/batch-7', podUid: 'x', container: null, ofTarget: false },
  ...{ writtenBytesPerSecond: 3.9 * 2 ** 20, readBytesPerSecond: 0, share: 0.93, dirtyBytes: 0, writebackBytes: 0 },
  cite: { entry: 'node/samples.jsonl', line: 3, text: '/kubepods/podx: 259:1 wbytes=…' },
  ...partial,
});

describe('disk-capped', () => {
  it('names the slow disk below the umount, in a real capture', () => {
    const [found] = judge(diskCapped, factsOfBundle('overlay-umount-sync'));
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringMatching(/^loop0 is at its limit: busy all the time at 1\.\d MiB\/s/),
    });
    expect(found?.links).toMatchObject([
      { about: ['device:loop0', 'filesystem:7:0'], waitsFor: [] },
      { about: [expect.stringMatching(/^thread:/)], waitsFor: ['device:loop0'] },
    ]);
  });

  it('is silent in real captures of a dead disk, of a frozen one, and of somebody who syncs while the pod is well', () => {
    for (const name of ['disk-dead', 'fs-frozen', 'somebody-syncs', 'healthy']) {
      expect(judge(diskCapped, factsOfBundle(name))).toEqual([]);
    }
  });

  it('is proved by a rate that does not vary, with pressure and somebody who waits', () => {
    expect(judge(diskCapped, withDisk(capped()))).toMatchObject([{ verdict: 'proved', ageMs: 20_000 }]);
  });

  it('is likely only where the rate varies, or nobody says that tasks wait for disks', () => {
    const varies = capped({ intervals: [full(), full({ completed: 90, writtenBytesPerSecond: 2 ** 20 })] });
    expect(judge(diskCapped, withDisk(varies))).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(diskCapped, withDisk(capped(), { pressure: null }))).toMatchObject([{ verdict: 'likely' }]);
  });

  it('counts a containerd that waits for the disk in a start that it has not ended, and cites the request', () => {
    const containerd = threadOf({
      ...{ pid: 812, tid: 830, comm: 'containerd', role: 'other', stack: FSYNC_THROTTLED, moved: 'once' },
      ...{ blockedForMs: 15_000, entry: 'node/blocked.txt' },
    });
    const blocked = (events: readonly LogEvent[]) =>
      judge(
        diskCapped,
        withDisk(capped(), {
          threads: podThreads(),
          nodeThreads: { blocked: [containerd], stacks: 'all' },
          containers: [containerOf()],
          logs: logsOf(events),
        }),
      );
    const asked = eventOf('start-requested', { agoMs: 16_000, level: 'info', message: 'StartContainer for "c1"' });
    const returned = eventOf('start-returned', {
      agoMs: 1000,
      message: 'StartContainer for "c1" returns successfully',
    });
    const [found] = blocked([asked]);
    expect(found).toMatchObject({
      verdict: 'likely',
      says: expect.stringContaining('containerd (thread 830) has waited'),
    });
    expect(found?.because).toContainEqual(asked.cite);
    // Of a pod of which nothing is to be done, a slow containerd is no stall.
    expect(blocked([asked, returned])).toEqual([]);
    expect(blocked([])).toEqual([]);
  });

  it('goes on to who writes, where the kernel says so', () => {
    const writers: WriterFacts = { version: 2, all: [writer({})] };
    expect(judge(diskCapped, withDisk(capped(), { writers }))[0]?.links).toMatchObject([
      { waitsFor: ['pod:shop/batch-7'] },
      { says: 'written by shop/batch-7 (93 %)', about: ['pod:shop/batch-7'] },
      { about: ['thread:2631'], waitsFor: ['device:nvme1n1'] },
    ]);
    const v1: WriterFacts = { version: 1, all: [writer({ share: null, dirtyBytes: 300 * 2 ** 20 })] };
    expect(judge(diskCapped, withDisk(capped(), { writers: v1 }))[0]?.links.at(-2)?.says).toBe(
      "100 % of the node's dirty pages, for whichever disk, are shop/batch-7's",
    );
    const direct: WriterFacts = { version: 1, all: [writer({ share: null })] };
    expect(judge(diskCapped, withDisk(capped(), { writers: direct }))[0]?.links).toHaveLength(2);
  });

  it('names the disk, not the partition above it', () => {
    const partition = capped({ name: 'nvme1n1p1', number: '259:2', below: ['nvme1n1'] });
    const found = judge(diskCapped, withDisk(capped(), { devices: devicesOf(partition, capped()) }));
    expect(found).toMatchObject([{ says: expect.stringMatching(/^nvme1n1 is/) }]);
    expect(found[0]?.links[0]?.about).toContain('filesystem:259:2');
  });

  it.each([
    ['idle', deviceOf()],
    ['busy now and then', capped({ alwaysInFlight: false })],
    ['not quite busy', capped({ rates: full({ utilPercent: 80 }) })],
    ['one slow flush, of which nothing is completed', capped({ rates: full({ completed: 0 }) })],
    ["nobody's: it carries neither the pod nor its runtime", capped({ roles: ['root filesystem'] })],
  ])('is silent about a disk that is %s', (_, device) => {
    expect(judge(diskCapped, withDisk(device))).toEqual([]);
  });

  it.each([
    ['runs', threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC, moved: 'moved' })],
    ['waits for a server', threadOf({ role: 'application', stack: FUSE_STAT })],
    ['idles', threadOf({ state: 'S', stack: GO_IDLE, idle: true })],
    ['has waited for a moment', threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC, blockedForMs: 2000 })],
  ])('is silent where the thread of the pod %s', (_, thread) => {
    expect(judge(diskCapped, withDisk(capped(), { threads: podThreads(thread) }))).toEqual([]);
  });

  it('is silent about a neighbour that writes, and somebody who syncs, while nobody of the pod waits', () => {
    const other = (stack: string, comm: string) =>
      threadOf({ pid: 99, tid: 99, comm, role: 'other', stack, moved: 'once' });
    const blocked = [
      other(SOMEBODY_SYNCS, 'sync'),
      other(CSS_FREE, 'kworker/1:2'),
      other(FSYNC_THROTTLED, 'containerd'),
    ];
    const facts = withDisk(capped(), {
      ...{ threads: podThreads(), nodeThreads: { blocked, stacks: 'all' }, containers: [containerOf()] },
    });
    expect(judge(diskCapped, facts)).toEqual([]);
    // With a container to be deleted, containerd's wait is the pod's.
    const ended = { ...facts, containers: [containerOf({ init: 'gone' })] };
    expect(judge(diskCapped, ended)).toMatchObject([
      { verdict: 'likely', says: expect.stringContaining('containerd (thread 99)') },
    ]);
  });

  it('needs two samples', () => {
    const devices = { all: [capped()], samples: 1, spanMs: 0 };
    expect(judge(diskCapped, withDisk(capped(), { devices }))).toEqual([]);
  });

  it.each([
    ['bytes, of requests that differ in size', [full(), full({ completed: 90 })], 'proved'],
    [
      'requests, of one or two large ones a second',
      [full({ completed: 1, writtenBytesPerSecond: 1 }), full({ completed: 2 })],
      'proved',
    ],
    ['neither', [full(), full({ completed: 90, writtenBytesPerSecond: 2 ** 20 })], 'likely'],
    ['nobody knows what, from one interval', [full()], 'likely'],
  ] as const)('tells a steady rate of %s', (_, intervals, verdict) => {
    expect(judge(diskCapped, withDisk(capped({ intervals })))).toMatchObject([{ verdict }]);
  });
});
