import { describe, expect, it } from 'vitest';
import { deviceOfStat, parseBlockDrivers, parsePartitions } from '../../../src/formats/proc/block-devices.ts';
import { parseDiskstats } from '../../../src/formats/proc/diskstats.ts';
import { parseLoadavg } from '../../../src/formats/proc/loadavg.ts';
import { parseLocks } from '../../../src/formats/proc/locks.ts';
import { parseMeminfo } from '../../../src/formats/proc/meminfo.ts';
import { parsePressure } from '../../../src/formats/proc/pressure.ts';
import { parseVmstat } from '../../../src/formats/proc/vmstat.ts';
import { fixture } from '../fixture.ts';

describe('diskstats', () => {
  it('reads every device of a 6.18 kernel', () => {
    const text = fixture('proc/node/diskstats');
    const disks = parseDiskstats(text);
    expect(disks).toHaveLength(text.trimEnd().split('\n').length);
    expect(disks.find(disk => disk.name === 'vda')).toEqual({
      major: 254,
      minor: 0,
      name: 'vda',
      reads: 49212,
      readsMerged: 11269,
      readBytes: 4413170 * 512,
      readMs: 57338,
      writes: 11735,
      writesMerged: 21024,
      writtenBytes: 2581808 * 512,
      writeMs: 16220,
      inFlight: 0,
      busyMs: 12108,
      weightedMs: 74527,
      discards: 5676,
      flushes: 1670,
      flushMs: 126,
    });
  });

  it('reads the shorter lines of older kernels, and leaves out what is none', () => {
    expect(
      parseDiskstats('   8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n   8 1 sda1 1 2 3 4\nx\n8 2 sda2 1 2 3 4 5 6 7 8 9 10 x\n'),
    ).toMatchObject([{ name: 'sda', inFlight: 9, busyMs: 10, weightedMs: 11, discards: null, flushes: null }]);
  });
});

describe('pressure', () => {
  it('reads both lines', () => {
    expect(parsePressure(fixture('proc/node/pressure-io'))).toEqual({
      some: {
        avg10: expect.any(Number),
        avg60: expect.any(Number),
        avg300: expect.any(Number),
        totalUs: expect.any(Number),
      },
      full: {
        avg10: expect.any(Number),
        avg60: expect.any(Number),
        avg300: expect.any(Number),
        totalUs: expect.any(Number),
      },
    });
    expect(parsePressure('some avg10=1.84 avg60=0.48 avg300=0.33 total=4796574\n')).toEqual({
      some: { avg10: 1.84, avg60: 0.48, avg300: 0.33, totalUs: 4796574 },
      full: null,
    });
  });

  it('is null where there is no pressure to read', () => {
    expect(parsePressure('Operation not supported')).toEqual({ some: null, full: null });
  });
});

describe('meminfo and vmstat', () => {
  it('give bytes, and counts where the kernel has no unit', () => {
    const meminfo = parseMeminfo(fixture('proc/node/meminfo'));
    expect(meminfo.get('Dirty')).toBeTypeOf('number');
    expect((meminfo.get('MemTotal') ?? 0) % 1024).toBe(0);
    expect(meminfo.get('Active(anon)')).toBeGreaterThan(0);
    expect(parseMeminfo('HugePages_Total:       7\nDirty:  3 kB\nx\n: 1 kB\n')).toEqual(
      new Map([
        ['HugePages_Total', 7],
        ['Dirty', 3072],
      ]),
    );
    expect(parseVmstat(fixture('proc/node/vmstat')).get('nr_dirty')).toBeTypeOf('number');
    expect(parseVmstat('file_dirty 4096\nnr_x -1\nbad\nmax max\n')).toEqual(
      new Map([
        ['file_dirty', 4096],
        ['nr_x', -1],
      ]),
    );
  });
});

describe('loadavg, locks, partitions, devices', () => {
  it('reads the load and the number of threads', () => {
    expect(parseLoadavg('0.27 0.15 0.10 1/98 7660\n')).toEqual({
      one: 0.27,
      five: 0.15,
      fifteen: 0.1,
      runnable: 1,
      total: 98,
      lastPid: 7660,
    });
    expect(parseLoadavg(fixture('proc/node/loadavg'))).not.toBeNull();
    expect(parseLoadavg('0.27 0.15')).toBeNull();
  });

  it('reads who holds a file lock and who waits for it', () => {
    expect(parseLocks(fixture('proc/node/locks'))).toEqual([
      { id: 1, waits: false, kind: 'FLOCK', access: 'WRITE', pid: 9146, device: '254:0', inode: '2147294' },
    ]);
    expect(
      parseLocks('1: -> POSIX  ADVISORY  WRITE 77 08:01:12 0 EOF\n2: POSIX  ADVISORY  READ 5 <none>:0 0 EOF\n'),
    ).toMatchObject([{ waits: true, pid: 77, device: '8:1', inode: '12' }]);
  });

  it('reads which devices there are and who drives them', () => {
    expect(parsePartitions(fixture('proc/node/partitions'))[0]).toEqual({
      device: expect.stringMatching(/^\d+:\d+$/),
      name: expect.any(String),
      bytes: expect.any(Number),
    });
    expect(parsePartitions(' 254        0  268435456 vda\n')).toEqual([
      { device: '254:0', name: 'vda', bytes: 268435456 * 1024 },
    ]);
    const drivers = parseBlockDrivers(fixture('proc/node/devices'));
    expect([drivers.get(7), drivers.get(254)]).toEqual(['loop', 'virtblk']);
    expect(parseBlockDrivers('Character devices:\n  1 mem\n').size).toBe(0);
  });

  it('splits a device number as stat(2) gives it', () => {
    expect([0xfe00n, 0x0000_0000_0010_0801n, 0x0000_1000_0000_0000n].map(deviceOfStat)).toEqual([
      '254:0',
      '8:257',
      '4096:0',
    ]);
  });
});
