import { describe, expect, test } from 'vitest';
import { judge, type ShimReading } from '../../../src/collectors/signal/guards.ts';
import { ARGV, BUNDLE, call, EXE, type LookText, look, PAGE_FAULT, SHIM } from './shim-look.ts';

const ok = (text: string) => ({ outcome: 'ok' as const, body: Buffer.from(text) });
const cmdlineOf = (...argv: readonly string[]) => ok(argv.map(word => `${word}\0`).join(''));

const HEALTHY: ShimReading = {
  shim: SHIM,
  looks: [look()],
  exe: ok(EXE),
  cmdline: cmdlineOf(...ARGV),
  stderr: ok(`${BUNDLE}/log`),
  architecture: 'x86_64',
};

/** The same thing seen in all looks. */
const seen = (text: LookText): ShimReading => ({ ...HEALTHY, looks: [look(text), look(text), look(text)] });

function refusal(reading: ShimReading, force = false): string | null {
  return judge(reading, force).refusal;
}

test('a healthy shim server passes every guard, and each guard says what it saw', () => {
  const { guards, refusal } = judge(HEALTHY, false);
  expect(refusal).toBeNull();
  expect(guards.map(({ guard, passed }) => [guard, passed])).toEqual([
    ['same process', true],
    ['shim server', true],
    ['handles SIGUSR1', true],
    ['not stopped or frozen', true],
    ['world can stop', true],
  ]);
  expect(guards[2]?.saw).toBe('SigCgt fffffffd7fc1feff');
});

describe('same process', () => {
  test('a pid that was used again is refused', () => {
    expect(refusal(seen({ startTicks: '92681' }))).toMatch(/^same process: started at tick 92681, the shim at 92680/);
  });
  test('a zombie is refused', () => {
    expect(refusal(seen({ state: 'Z' }))).toMatch(/^same process: it is dead/);
  });
  test('a process that became another program is refused', () => {
    expect(refusal({ ...HEALTHY, exe: ok('/usr/bin/sleep') })).toMatch(/^same process: .*\/usr\/bin\/sleep/);
  });
  test('an upgrade under a running shim is not another program', () => {
    expect(refusal({ ...HEALTHY, exe: ok(`${EXE} (deleted)`) })).toBeNull();
  });
  test('an exe that nobody could read before must be that of a shim', () => {
    const shim = { ...SHIM, exe: null };
    expect(refusal({ ...HEALTHY, shim })).toBeNull();
    expect(refusal({ ...HEALTHY, shim, exe: ok('/usr/bin/containerd') })).toMatch(/^same process/);
  });
  test('an exe that cannot be read now is refused', () => {
    const exe = { outcome: 'denied' as const, body: Buffer.alloc(0), detail: 'EACCES' };
    expect(refusal({ ...HEALTHY, exe })).toMatch(/^same process: its exe link could not be read: EACCES/);
  });
});

describe('shim server', () => {
  test.each(['start', 'delete'])('the helper `%s` is refused', action => {
    expect(refusal({ ...HEALTHY, cmdline: cmdlineOf(...ARGV, '-bundle', BUNDLE, action) })).toMatch(/^shim server/);
  });
  test('an action behind a flag that is not known here is an action', () => {
    expect(refusal({ ...HEALTHY, cmdline: cmdlineOf(...ARGV, '-some-new-switch', 'delete') })).toMatch(/^shim server/);
  });
  test('a server with other flags passes', () => {
    const kata = ['/opt/kata/bin/containerd-shim-kata-v2', ...ARGV.slice(1), '-publish-binary', '/usr/bin/containerd'];
    expect(refusal({ ...HEALTHY, cmdline: cmdlineOf(...kata, '-debug') })).toBeNull();
  });
  test('another program is refused', () => {
    expect(refusal({ ...HEALTHY, cmdline: cmdlineOf('sleep', '1000') })).toMatch(/^shim server: its program is sleep/);
  });
  test('where the cmdline hangs, the fifo as descriptor 2 tells the server', () => {
    const cmdline = { outcome: 'timeout' as const, body: Buffer.alloc(0) };
    expect(refusal({ ...HEALTHY, cmdline })).toBeNull();
    expect(refusal({ ...HEALTHY, cmdline, stderr: ok('pipe:[4711]') })).toMatch(/^shim server: cmdline hangs/);
    const deleted = ok(`${BUNDLE.replace(/([^/]+)$/, '.$1')}/log (deleted)`);
    expect(refusal({ ...HEALTHY, cmdline, stderr: deleted })).toBeNull();
    const sibling = ok(`${BUNDLE.replace(/[^/]+$/, 'ff'.repeat(32))}/log`);
    expect(refusal({ ...HEALTHY, cmdline, stderr: sibling })).toMatch(/^shim server/);
  });
  test('a cmdline that is empty or denied is refused', () => {
    expect(refusal({ ...HEALTHY, cmdline: { outcome: 'empty', body: Buffer.alloc(0) } })).toMatch(/^shim server/);
  });
});

describe('handles SIGUSR1', () => {
  test('a shim without the handler would die and is refused, force or not', () => {
    // A Rust shim: SIGTERM, SIGINT, SIGPIPE, SIGCHLD.
    const rust = seen({ caught: '0000000000015002' });
    expect(refusal(rust)).toMatch(/^handles SIGUSR1: .*lacks 0x200: the signal would kill it/);
    expect(refusal(rust, true)).toMatch(/^handles SIGUSR1/);
  });
  test('SIGUSR2 or SIGKILL beside it do not count', () => {
    expect(refusal(seen({ caught: 'fffffffd7fc1fcff' }))).toMatch(/^handles SIGUSR1/);
  });
  test('a mask that cannot be read is refused', () => {
    const unread = { ...look(), status: null };
    expect(refusal({ ...HEALTHY, looks: [unread] })).toMatch(/^handles SIGUSR1: SigCgt could not be read/);
  });
});

describe('not stopped or frozen', () => {
  test('a stopped shim is not signalled: the signal would stay pending', () => {
    const stopped = seen({ state: 'T', threads: [{ state: 'T' }, { tid: 2431, state: 'T' }] });
    expect(refusal(stopped)).toMatch(/^not stopped or frozen: it is stopped \(T\): the signal would stay pending/);
    expect(refusal(stopped, true)).toMatch(/^not stopped or frozen/);
  });
  test.each([
    ['cgroup v1', { state: 'D', wchan: '__refrigerator', stack: '[<0>] __refrigerator+0x52/0x150\n' }],
    ['cgroup v2', { state: 'S', wchan: 'do_freezer_trap' }],
  ])('a shim frozen by %s is not signalled', (_, frozen) => {
    expect(refusal(seen({ threads: [frozen, { tid: 2431, ...frozen }] }))).toMatch(/^not stopped or frozen: 2 of 2/);
  });
  test('one thread at a stop of a tracer does not make a stopped process', () => {
    expect(refusal(seen({ threads: [{}, { tid: 2431, state: 't', wchan: 'ptrace_stop' }] }))).toBeNull();
  });
});

describe('world can stop', () => {
  test('says of threads whose system call is denied that their state alone was judged', () => {
    const denied = seen({ threads: [{}, { tid: 2435, syscall: '' }] });
    const guard = judge(denied, false).guards.find(({ guard: name }) => name === 'world can stop');
    expect(guard).toMatchObject({
      passed: true,
      saw: expect.stringContaining('of 1 the system call could not be read'),
    });
  });

  const EPOLL_CTL = 233;
  const MUNMAP = 11;
  const UMOUNT2 = 166;

  test('a thread in a page fault refuses, and force overrides that', () => {
    const fault = seen({
      threads: [{}, { tid: 2435, state: 'D', wchan: 'folio_wait_bit_common', syscall: PAGE_FAULT }],
    });
    expect(refusal(fault)).toBe('world can stop: thread 2435 hangs in a page fault (D, folio_wait_bit_common)');
    const forced = judge(fault, true);
    expect(forced.refusal).toBeNull();
    expect(forced.overridden).toEqual(['world can stop']);
    expect(forced.guards.at(-1)?.passed).toBe(false);
  });
  test.each([
    ['munmap in D', { state: 'D', syscall: call(MUNMAP, '0x7f0000000000', '0x1000') }],
    ['epoll_ctl that a tracer holds', { state: 't', syscall: call(EPOLL_CTL, '0x5', '0x1', '0x9') }],
    ['a fault on FUSE, which waits interruptibly', { state: 'S', syscall: PAGE_FAULT }],
  ])('%s refuses', (_, held) => {
    expect(refusal(seen({ threads: [{}, { tid: 2435, ...held }] }))).toMatch(/^world can stop: thread 2435 hangs in/);
  });
  test('a thread in D in a call of the program itself, the stall that is looked for, does not refuse', () => {
    const stall = { tid: 2435, state: 'D', wchan: 'wb_wait_for_completion', syscall: call(UMOUNT2, '0xc00030') };
    expect(refusal(seen({ threads: [{}, stall] }))).toBeNull();
  });
  test('what is gone in the next look, or has moved, does not refuse', () => {
    const first = look({ threads: [{}, { tid: 2435, state: 'D', syscall: call(MUNMAP, '0x7f0000000000') }] });
    const moved = look({ threads: [{}, { tid: 2435, state: 'D', syscall: call(MUNMAP, '0x7f1111111000') }] });
    expect(refusal({ ...HEALTHY, looks: [first, moved] })).toBeNull();
    expect(refusal({ ...HEALTHY, looks: [first, look()] })).toBeNull();
  });
  test('on an architecture without names any call in D refuses', () => {
    const stall = seen({ threads: [{}, { tid: 2435, state: 'D', syscall: call(UMOUNT2) }] });
    expect(refusal({ ...stall, architecture: null })).toMatch(/^world can stop: thread 2435 hangs in system call 166/);
  });
  test('a thread in D whose call could not be read refuses', () => {
    expect(refusal(seen({ threads: [{}, { tid: 2435, state: 'D', syscall: '' }] }))).toMatch(/could not be read/);
  });
  test('a shim whose threads could not be read refuses', () => {
    expect(refusal({ ...HEALTHY, looks: [look({ threads: [] })] })).toMatch(/^world can stop/);
  });
});

test('force overrides no guard but the last', () => {
  expect(refusal({ ...HEALTHY, exe: ok('/usr/bin/sleep') }, true)).toMatch(/^same process/);
  expect(refusal({ ...HEALTHY, cmdline: cmdlineOf('sleep') }, true)).toMatch(/^shim server/);
});
