import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnosis/diagnose.ts';
import type { Device, Facts } from '../../../src/diagnosis/facts.ts';
import { diskDead } from '../../../src/diagnosis/rules/disk-dead.ts';
import { deviceOf, devicesOf, factsOf, kernelEventOf, podThreads, ratesOf, STARTED_AT, threadOf } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { judge } from '../judge.ts';
import { RENAME_FROZEN, UMOUNT_SYNC, UMOUNT2, WAITS_FOR_JOURNAL } from '../stacks.ts';

const dead = (partial: Partial<Device> = {}, inFlight: readonly number[] = [49, 49, 49]): Device =>
  deviceOf({
    rates: ratesOf({ utilPercent: 100, completed: 0 }),
    samples: inFlight.map((count, index) => ({
      ...{
        offsetMs: index * 1000,
        inFlight: count,
        cite: { entry: 'node/samples.jsonl', line: index + 1, text: 'nvme1n1' },
      },
    })),
    alwaysInFlight: true,
    ...partial,
  });
const unmounting = threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC });
const withDisk = (device: Device, rest: Partial<Facts> = {}) =>
  factsOf({ devices: devicesOf(device), threads: podThreads(unmounting), ...rest });
/** drivers/nvme/host/pci.c nvme_timeout. */
const timeout = kernelEventOf({
  kind: 'controller-timeout',
  text: 'nvme nvme1: I/O 22 QID 3 timeout, aborting',
  device: 'nvme1',
});
const kernel = (...events: readonly (typeof timeout)[]) => ({ events, from: STARTED_AT - 3_600_000, to: STARTED_AT });

describe('disk-dead', () => {
  it('names the disk that stopped, in a real capture, with its flusher', () => {
    const [found] = judge(diskDead, factsOfBundle('disk-dead'));
    expect(found).toMatchObject({
      verdict: 'proved',
      says: expect.stringMatching(/^loop0 does not answer: 49 requests are in flight and none was completed/),
    });
    expect(found?.because.some(({ text }) => text.includes('flush-7:0'))).toBe(true);
    expect(found?.links).toMatchObject([{ about: ['device:loop0', 'filesystem:7:0'], waitsFor: [] }]);
  });

  it('is silent in real captures of a slow disk and of a frozen filesystem', () => {
    for (const name of ['overlay-umount-sync', 'second-waiter', 'fs-frozen', 'healthy', 'somebody-syncs']) {
      expect(judge(diskDead, factsOfBundle(name))).toEqual([]);
    }
  });

  it('is proved by requests in flight of which none comes back, and a thread that waits', () => {
    expect(judge(diskDead, withDisk(dead()))).toMatchObject([{ verdict: 'proved', ageMs: 20_000 }]);
    expect(judge(diskDead, withDisk(dead({}, [3, 5, 9])))).toMatchObject([{ verdict: 'proved' }]);
  });

  it('reads what the kernel says of the controller', () => {
    const once = threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC, moved: 'once' });
    const facts = withDisk(dead(), { threads: podThreads(once) });
    expect(judge(diskDead, facts)).toMatchObject([{ verdict: 'likely' }]);
    expect(judge(diskDead, { ...facts, kernel: kernel(timeout) })).toMatchObject([
      { verdict: 'proved', next: [expect.stringContaining('logs/kernel.log'), expect.anything(), expect.anything()] },
    ]);
  });

  it('takes timeouts of a controller that still completes something for likely', () => {
    const resetting = dead({ rates: ratesOf({ utilPercent: 100, completed: 3 }) });
    expect(judge(diskDead, withDisk(resetting, { kernel: kernel(timeout) }))).toMatchObject([{ verdict: 'likely' }]);
    const failed = { ...timeout, kind: 'io-error' as const };
    expect(judge(diskDead, withDisk(resetting, { kernel: kernel(failed) }))).toEqual([]);
    const old = { ...timeout, time: STARTED_AT - 3_600_000 };
    expect(judge(diskDead, withDisk(resetting, { kernel: kernel(old) }))).toEqual([]);
    const otherDisk = { ...timeout, device: 'nvme10' };
    expect(judge(diskDead, withDisk(resetting, { kernel: kernel(otherDisk) }))).toEqual([]);
  });

  it.each([
    ['idle, while a journal is contended', deviceOf(), threadOf({ stack: WAITS_FOR_JOURNAL })],
    ['idle, below a frozen filesystem', deviceOf(), threadOf({ stack: RENAME_FROZEN })],
    ['completing', dead({ rates: ratesOf({ utilPercent: 100, completed: 1 }) }), unmounting],
    ['completing, as what is in flight gets less', dead({}, [9, 7, 3]), unmounting],
    ['busy with one slow flush', dead({}, [1, 1, 1]), { ...unmounting, blockedForMs: 2500 }],
    ["nobody's", dead({ roles: ['root filesystem'] }), unmounting],
  ])('is silent about a disk that is %s', (_, device, thread) => {
    expect(judge(diskDead, withDisk(device, { threads: podThreads(thread) }))).toEqual([]);
  });

  it('believes errors of the disk as well, where nothing comes back', () => {
    const once = threadOf({ call: UMOUNT2, stack: UMOUNT_SYNC, moved: 'once' });
    const failed = { ...timeout, kind: 'io-error' as const, device: 'nvme1n1p1' };
    const facts = withDisk(dead(), { threads: podThreads(once), kernel: kernel(failed) });
    expect(judge(diskDead, facts)).toMatchObject([{ verdict: 'proved' }]);
  });

  it('is not applicable with one sample and no log of the kernel', () => {
    const facts = withDisk(dead(), { devices: { all: [dead()], samples: 1, spanMs: 0 } });
    expect(diagnose(facts, [diskDead]).notApplicable).toHaveLength(1);
    expect(diagnose({ ...facts, kernel: kernel() }, [diskDead]).notApplicable).toEqual([]);
  });
});
