import { describe, expect, it } from 'vitest';
import { parseDiskstats } from '../../../src/formats/proc/diskstats.ts';
import { parseMeminfo } from '../../../src/formats/proc/meminfo.ts';
import { parsePressure } from '../../../src/formats/proc/pressure.ts';
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

describe('meminfo', () => {
  it('gives bytes, and counts where the kernel has no unit', () => {
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
  });
});
