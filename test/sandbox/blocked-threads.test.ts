import { describe, expect, it } from 'vitest';
import { blockedThreads } from '../../src/sandbox/blocked-threads.ts';
import { type FakeThread, lookOf } from './looks.ts';

const OPTIONS = { machine: 'x86_64' };
const blockedIn = (comm: string, ...threads: readonly FakeThread[]) =>
  blockedThreads(lookOf(100, comm, threads), OPTIONS);

describe('a thread looks blocked', () => {
  it('of a shim in D for a while, with call, place and age', () => {
    const umount = {
      state: 'D',
      wchan: 'wb_wait_for_completion',
      since: 20.2,
      syscall: '166 0xc0 0x0 0x0 0x0 0x0 0x0 0x7f 0x7e',
    };
    expect(blockedIn('containerd-shim', {}, umount)).toEqual([
      {
        pid: 100,
        tid: 101,
        comm: 'containerd-shim',
        state: 'D',
        place: 'wb_wait_for_completion',
        syscall: 'umount2',
        blockedForSeconds: 20.2,
      },
    ]);
  });

  it('of a shim that was woken to no avail, and is in the very same call as in the look before', () => {
    const at = (offsetMs: number, syscall: string) => {
      const umount = { state: 'D', wchan: 'wb_wait_for_completion', since: 0.3, syscall };
      return { ...lookOf(100, 'containerd-shim', [{}, umount]), offsetMs };
    };
    const call = '166 0xc0 0x0 0x0 0x0 0x0 0x0 0x7f 0x7e';
    const [before, look] = [at(1000, call), at(2500, call)];
    expect(blockedThreads(look, OPTIONS)).toEqual([]);
    expect(blockedThreads(look, { ...OPTIONS, before })).toMatchObject([{ tid: 101, blockedForSeconds: 1.5 }]);
    expect(blockedThreads(look, { ...OPTIONS, before: at(1000, call.replace('0xc0', '0xd0')) })).toEqual([]);
    expect(blockedThreads(at(2500, 'running'), { ...OPTIONS, before: at(1000, 'running') })).toEqual([]);
  });

  it.each([
    ['a shim that waits for FUSE, though in S', 'containerd-shim', { wchan: 'request_wait_answer', since: 3 }],
    ['a shim whose log fifo is full', 'containerd-shim', { wchan: 'anon_pipe_write', since: 3 }],
    ['a shim whose log fifo is full, on an older kernel', 'containerd-shim', { wchan: 'pipe_write', since: 3 }],
    ['a shim that was stopped', 'containerd-shim', { state: 'T', wchan: 'do_signal_stop', since: 3 }],
    [
      'a shim without wchan, by its stack',
      'containerd-shim',
      { wchan: '0', since: 3, stack: '[<0>] request_wait_answer+0x12/0x90\n[<0>] x+0x1/0x2\n' },
    ],
    ['a shim on a kernel without sched', 'containerd-shim', { state: 'D', wchan: 'x', since: null }],
    ['runc that waits for its child', 'runc', { wchan: 'anon_pipe_read', since: 3 }],
    ['runc init at FUSE', 'runc:[2:INIT]', { wchan: 'request_wait_answer', since: 3 }],
    ['runc init at exec.fifo', 'runc:[2:INIT]', { wchan: 'wait_for_partner', since: 3 }],
    ['a wrapper of runc that hangs', 'nvidia-containe', { wchan: 'anon_pipe_read', since: 3 }],
    ['an application in D', 'dd', { state: 'D', wchan: 'folio_wait_bit_common', since: 3 }],
    ['an application at FUSE', 'nginx', { wchan: 'request_wait_answer', since: 3 }],
    ['an application at NFS', 'nginx', { wchan: 'rpc_wait_bit_killable', since: 3 }],
  ] as const)('of %s', (_, comm, thread) => {
    expect(blockedIn(comm, thread)).toHaveLength(1);
  });

  it.each([
    ['an idle shim', 'containerd-shim', { wchan: 'futex_do_wait', since: 900 }],
    ['an idle shim of an older kernel', 'containerd-shim', { wchan: 'futex_wait_queue_me', since: 900 }],
    ["a shim's poller", 'containerd-shim', { wchan: 'do_epoll_wait', since: 900 }],
    ['a shim that watches a cgroup', 'containerd-shim', { wchan: 'inotify_read', since: 900 }],
    ['a shim of which wchan and stack tell nothing', 'containerd-shim', { wchan: '0', since: 900 }],
    [
      'a shim without wchan, on arm64 before 5.17',
      'containerd-shim',
      { wchan: '0', since: 900, stack: '[<0>] __switch_to+0xe4/0x134\n[<0>] futex_wait_queue_me+0xb8/0x118\n' },
    ],
    ['a shim that was in D for a moment', 'containerd-shim', { state: 'D', wchan: 'x', since: 0.3 }],
    ['a running shim', 'containerd-shim', { state: 'R', wchan: '0', since: 0 }],
    ['runc that Go parked', 'runc', { wchan: 'futex_do_wait', since: 9 }],
    ['pause', 'pause', { wchan: 'do_sigtimedwait', since: 9000 }],
    ['pause, by its call', 'pause', { wchan: '__x64_sys_pause', since: 9000 }],
    ['sleep', 'sleep', { wchan: 'hrtimer_nanosleep', since: 9000 }],
    ['a shell that waits for its child', 'sh', { wchan: 'do_wait', since: 9000 }],
    ['a reader of a pipe', 'cat', { wchan: 'anon_pipe_read', since: 9000 }],
    ['an application in a place of its own', 'app', { wchan: 'some_driver_wait', since: 9000 }],
    ['a FUSE daemon that waits for requests', 'bindfs', { wchan: 'fuse_dev_do_read', since: 9000 }],
    ['an application that was stopped', 'app', { state: 'T', wchan: 'do_signal_stop', since: 9000 }],
    ['an application in D of unknown age', 'dd', { state: 'D', wchan: 'x', since: null }],
    ['a zombie', 'app', { state: 'Z', wchan: '0', since: 9000 }],
  ] as const)('but not of %s', (_, comm, thread) => {
    expect(blockedIn(comm, thread)).toEqual([]);
  });

  it('and the longest comes first, one of unknown age last', () => {
    const threads = [5, null, 60].map(since => ({ state: 'D', wchan: 'x', since }));
    expect(blockedIn('containerd-shim', ...threads).map(({ blockedForSeconds }) => blockedForSeconds)).toEqual([
      60,
      5,
      null,
    ]);
  });

  it('in no call when it waits for a page', () => {
    expect(
      blockedIn('containerd-shim', { state: 'D', wchan: 'x', since: 5, syscall: '-1 0x7f 0x7e' })[0]?.syscall,
    ).toBeNull();
  });
});
