import { describe, expect, it } from 'vitest';
import { catches, parseStatus, SIGUSR1 } from '../../../src/formats/proc/status.ts';
import { fixture } from '../fixture.ts';

describe('parseStatus', () => {
  it('reads the status of a shim', () => {
    expect(parseStatus(fixture('proc/shim-2.3.4/status'))).toMatchObject({
      name: 'containerd-shim',
      state: 'S',
      ppid: 1,
      tracerPid: 0,
      uid: [0, 0, 0, 0],
      signals: { pending: 0n },
    });
    const status = parseStatus(fixture('proc/shim-1.6.20/status'));
    expect(status).toMatchObject({
      tgid: 2430,
      threads: 12,
      nsPid: [2430],
      vmRssBytes: 14340 * 1024,
      voluntarySwitches: 8,
      nonvoluntarySwitches: 12,
    });
    expect(status.fields.get('SigCgt')).toBe('fffffffd7fc1feff');
  });

  it('undoes the escapes of a name', () => {
    expect(parseStatus('Name:\ta\\nb\\\\n c\nState:\tD (disk sleep)\n')).toMatchObject({
      name: 'a\nb\\n c',
      state: 'D',
    });
    expect(parseStatus('Name:\t x \n').name).toBe(' x ');
  });

  it('has null or nothing for what is missing', () => {
    expect(parseStatus('no such file\n:\nUid:\tx\nSigCgt:\tzz\nThreads:\n')).toMatchObject({
      name: null,
      state: null,
      threads: null,
      uid: [],
      vmRssBytes: null,
      signals: { caught: null },
    });
  });
});

describe('catches', () => {
  it('says that a Go shim handles SIGUSR1, and that touch(1) would die of it', () => {
    expect(catches(parseStatus(fixture('proc/shim-1.6.20/status')), SIGUSR1)).toBe(true);
    expect(catches(parseStatus(fixture('proc/frozen-touch/status')), SIGUSR1)).toBe(false);
  });

  it('looks at bit n - 1, also above 32', () => {
    const status = parseStatus('SigCgt:\t0000000100000200\n');
    expect([9, 10, 11, 33].map(signal => catches(status, signal))).toEqual([false, true, false, true]);
  });

  it('does not guess when the mask is missing', () => {
    expect(catches(parseStatus(''), SIGUSR1)).toBeNull();
  });
});
