import { describe, expect, it } from 'vitest';
import { parseFrame, parseStack } from '../../../src/formats/proc/stack.ts';
import { fixture } from '../fixture.ts';

describe('parseStack', () => {
  it('reads the stack of a task that waits for a frozen filesystem', () => {
    const frames = parseStack(fixture('proc/frozen-touch/stack'));
    expect(frames.map(frame => frame.symbol)).toEqual([
      'percpu_rwsem_wait',
      'mnt_want_write',
      'path_openat',
      'do_filp_open',
      'do_sys_openat2',
      '__x64_sys_openat',
      'do_syscall_64',
      'entry_SYSCALL_64_after_hwframe',
    ]);
    expect(frames[0]).toEqual({
      symbol: 'percpu_rwsem_wait',
      offset: 0x15f,
      size: 0x1d0,
      module: null,
      text: '[<0>] percpu_rwsem_wait+0x15f/0x1d0',
    });
  });

  it.each([
    ['[<0>] zap_pid_ns_processes+0x104/0x180', 'zap_pid_ns_processes', null],
    ['[<ffffffff81120f1f>] zap_pid_ns_processes+0x13f/0x1a0', 'zap_pid_ns_processes', null],
    ['[] rpc_wait_bit_killable+0x24/0x40 [sunrpc]', 'rpc_wait_bit_killable', 'sunrpc'],
    ['ovl_sync_fs+0x59/0x90 [overlay]', 'ovl_sync_fs', 'overlay'],
    ['xfs_log_regrant+0xc2/0x1e0 [xfs 28bfed63550f2a10ab]', 'xfs_log_regrant', 'xfs'],
    ['[c000000629343540] [c0000000007623b4] xlog_grant_head_wait+0x84/0x420', 'xlog_grant_head_wait', null],
    ['jbd2_log_wait_commit+0x2ef/0x460 fs/jbd2/journal.c:697', 'jbd2_log_wait_commit', null],
    ['[<0>] do_poll.constprop.0+0x1b0/0x2c0', 'do_poll', null],
    ['[<0>] rwsem_down_write_slowpath.isra.0.cold+0x1/0x2', 'rwsem_down_write_slowpath', null],
  ])('reads %s', (line, symbol, module) => expect(parseFrame(line)).toMatchObject({ symbol, module }));

  it('leaves out the end mark of old kernels and blank lines', () => {
    expect(parseStack('[<ffffffffffffffff>] 0xffffffffffffffff\n\n[<0>] 0xffffffffffffffff\n')).toEqual([]);
  });

  it('keeps a line in no known form', () => {
    expect(parseStack('[<0>] 0xffffffffc0a81234\n(stack: EACCES)\n')).toMatchObject([
      { symbol: null, text: '[<0>] 0xffffffffc0a81234' },
      { symbol: null, text: '(stack: EACCES)' },
    ]);
  });
});
