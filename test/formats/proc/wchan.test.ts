import { describe, expect, it } from 'vitest';
import { isIdle, wchanSymbol } from '../../../src/formats/proc/wchan.ts';

describe('wchan', () => {
  it('is idle where Go parks a thread, and where a server or a kernel thread waits for work', () => {
    for (const place of [
      'futex_wait_queue',
      'futex_wait_queue_me',
      'futex_do_wait',
      'ep_poll',
      'do_epoll_wait',
      '__futex_wait',
      '__arm64_sys_epoll_pwait',
      'hrtimer_nanosleep',
      'do_poll.constprop.0',
      'do_sigtimedwait.isra.0',
      'kjournald2\n',
      'worker_thread',
    ]) {
      expect(isIdle(place), place).toBe(true);
    }
  });

  it('is not idle in a lock, on a disk, in a filesystem request, in a full pipe or in a frozen cgroup', () => {
    for (const place of [
      'wb_wait_for_completion',
      'rwsem_down_write_slowpath',
      'percpu_rwsem_wait',
      'request_wait_answer',
      'anon_pipe_write',
      'pipe_write',
      'jbd2_log_wait_commit',
      'io_schedule',
      'do_freezer_trap',
      '__refrigerator',
      'wait_for_partner',
      'zap_pid_ns_processes',
      'ptrace_stop',
    ]) {
      expect(isIdle(place), place).toBe(false);
    }
  });

  it('knows nothing of 0, of - and of nothing', () => {
    for (const nothing of ['0', '-', '', '?', null]) {
      expect(wchanSymbol(nothing)).toBeNull();
      expect(isIdle(nothing)).toBe(false);
    }
  });
});
