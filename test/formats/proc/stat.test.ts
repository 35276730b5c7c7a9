import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStat } from '../../../src/formats/proc/stat.ts';
import { fixture } from '../fixture.ts';

describe('parseStat', () => {
  it('reads the stat line of a shim', () => {
    expect(parseStat(fixture('proc/shim-1.6.20/stat'))).toMatchObject({
      pid: 2430,
      comm: 'containerd-shim',
      state: 'S',
      ppid: 1,
      pgrp: 2430,
      session: 1071,
      flags: 4194304,
      utime: 241,
      stime: 77,
      priority: 20,
      nice: 0,
      threads: 12,
      startTicks: '92680',
      vsizeBytes: 1574313984,
      rssPages: 3554,
      processor: 1,
    });
  });

  it('keeps any name apart from the fields after it', () => {
    const line = fixture('proc/shim-1.6.20/stat');
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a) S 1 (b', ') R', '(', '', '\n')), comm => {
        const stat = parseStat(line.replace('containerd-shim', () => comm));
        expect(stat).toEqual({ ...parseStat(line), comm });
      }),
    );
  });

  it('says null to what is no such line, or is cut before the start time', () => {
    for (const text of ['', '1', '1 (a', '1 (a)', '1 (a) S 1 2 3', 'x (a) S', ')(', '\0']) {
      expect(parseStat(text)).toBeNull();
    }
    const line = fixture('proc/shim-1.6.20/stat');
    expect(parseStat(line.slice(0, line.indexOf(' 92680')))).toBeNull();
  });

  it('says null, not zero, for fields that a short line does not have', () => {
    const line = fixture('proc/shim-1.6.20/stat');
    expect(parseStat(line.slice(0, line.indexOf(' 18446744073709551615')))).toMatchObject({
      startTicks: '92680',
      processor: null,
      blkioDelayTicks: null,
    });
  });
});
