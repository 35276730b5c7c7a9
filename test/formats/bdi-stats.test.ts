import { describe, expect, it } from 'vitest';
import { diskOfBdi, parseBdiStats } from '../../src/formats/bdi-stats.ts';
import { fixture } from './fixture.ts';

describe('what waits to be written to one disk', () => {
  it('is read from its file of debugfs', () => {
    const stats = parseBdiStats(fixture('proc/bdi/stats'));
    expect(stats).toEqual({ dirtyBytes: 23_068 * 1024, writebackBytes: 4 * 1024 });
  });

  it('is not known from a text that is none, or is cut', () => {
    expect(parseBdiStats('')).toBeNull();
    expect(parseBdiStats('BdiWriteback:                4 kB\nBdiReclaim')).toBeNull();
  });

  it('is that of the disk in the path', () => {
    expect(diskOfBdi('/sys/kernel/debug/bdi/254:0/stats')).toBe('254:0');
    for (const path of ['/sys/kernel/debug/bdi/btrfs-1/stats', '/proc/meminfo', '/x/sys/kernel/debug/bdi/1:1/stats'])
      expect(diskOfBdi(path)).toBeNull();
  });
});
