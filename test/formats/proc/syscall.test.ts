import { describe, expect, it } from 'vitest';
import { isGoRuntimeCall, parseSyscall } from '../../../src/formats/proc/syscall.ts';
import { architectureOf, syscallName } from '../../../src/formats/proc/syscall-names.ts';
import { fixture } from '../fixture.ts';

describe('parseSyscall', () => {
  it('reads a call with its six arguments', () => {
    expect(parseSyscall(fixture('proc/frozen-touch/syscall'))).toEqual({
      kind: 'call',
      number: 257,
      args: ['0xffffff9c', '0x7fff6e341ae1', '0x941', '0x1b6', '0x0', '0x0'],
      sp: '0x7fff6e33f610',
      pc: '0x7f1b7ef0b011',
    });
  });

  it('reads a running task and one that is blocked outside of any call', () => {
    expect(parseSyscall('running\n')).toEqual({ kind: 'running' });
    expect(parseSyscall('-1 0x7ffe7f454168 0x7f1577b612ad\n')).toEqual({
      kind: 'none',
      sp: '0x7ffe7f454168',
      pc: '0x7f1577b612ad',
    });
  });

  it('keeps what is none of these', () => {
    for (const text of ['', '(syscall: EACCES)', '166', '166 0x1 0x2', '166 a b c d e f', 'x'.repeat(1_000_000)]) {
      expect(parseSyscall(text)).toEqual({ kind: 'unknown', text });
    }
  });
});

describe('syscallName', () => {
  it.each([
    ['umount2', 166, 39],
    ['mount', 165, 40],
    ['read', 0, 63],
    ['write', 1, 64],
    ['openat', 257, 56],
    ['newfstatat', 262, 79],
    ['fstat', 5, 80],
    ['statfs', 137, 43],
    ['futex', 202, 98],
    ['epoll_ctl', 233, 21],
    ['epoll_pwait', 281, 22],
    ['fsync', 74, 82],
    ['fdatasync', 75, 83],
    ['sync', 162, 81],
    ['syncfs', 306, 267],
    ['renameat2', 316, 276],
    ['mmap', 9, 222],
    ['munmap', 11, 215],
    ['madvise', 28, 233],
    ['clone', 56, 220],
    ['execve', 59, 221],
    ['waitid', 247, 95],
    ['nanosleep', 35, 101],
    ['wait4', 61, 260],
    ['statx', 332, 291],
    ['openat2', 437, 437],
    ['pidfd_open', 434, 434],
    ['file_setattr', 469, 469],
  ])('knows %s as %d on x86_64 and as %d on arm64', (name, x86, arm) => {
    expect(syscallName(x86, 'x86_64')).toBe(name);
    expect(syscallName(arm, 'arm64')).toBe(name);
  });

  it('knows by number what is there on one architecture alone', () => {
    expect(syscallName(232, 'x86_64')).toBe('epoll_wait');
    expect(syscallName(2, 'x86_64')).toBe('open');
    expect(syscallName(38, 'arm64')).toBe('renameat');
  });

  it('has no name for numbers without a call', () => {
    for (const number of [244, 259, 300, 423, 470, -1, 1.5]) expect(syscallName(number, 'arm64')).toBeNull();
    expect(syscallName(335, 'x86_64')).toBeNull();
  });

  it('takes the zeros of a kernel thread for no call, and a read of standard input for one', () => {
    expect(parseSyscall(`0${' 0x0'.repeat(8)}\n`)).toEqual({ kind: 'kernel' });
    expect(parseSyscall('0 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffd1000 0x7f2a1000\n')).toMatchObject({
      kind: 'call',
      number: 0,
    });
  });

  it('knows architectures by all their names', () => {
    expect(['x86_64', 'amd64', 'x64', 'aarch64', 'arm64', 'ppc64le'].map(architectureOf)).toEqual([
      'x86_64',
      'x86_64',
      'x86_64',
      'arm64',
      'arm64',
      null,
    ]);
  });
});

describe('isGoRuntimeCall', () => {
  it('tells what the runtime calls for itself from what a goroutine calls', () => {
    expect(['mmap', 'munmap', 'madvise', 'epoll_ctl', 'clone'].every(isGoRuntimeCall)).toBe(true);
    expect(['futex', 'epoll_pwait', 'umount2', 'read', 'openat', 'nanosleep'].some(isGoRuntimeCall)).toBe(false);
  });
});
