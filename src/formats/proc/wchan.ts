/**
 * /proc/<pid>/wchan: proc_pid_wchan(5), kernel fs/proc/base.c proc_pid_wchan: the function that a task sleeps in. `0` for
 * a task that runs, for a reader without the right, and on kernels built without symbols; ps shows that as `-`.
 */

/** The function's name as the source spells it (`do_poll` for `do_poll.constprop.0`), or null where the file tells nothing. */
export function wchanSymbol(wchan: string | null): string | null {
  const name = wchan?.trim() ?? '';
  if (name === '' || name === '0' || name === '-' || name === '?') return null;
  const dot = name.indexOf('.', 1);
  return dot < 0 ? name : name.slice(0, dot);
}

/**
 * Where a task sleeps that waits for work: Go's parked threads and its poller, servers in accept, readers of a pipe or
 * terminal, parents in wait, the kernel's own threads between two jobs. Names of kernels 3.10 to 6.18; where a compiler has
 * put one function into another, that of the outer one.
 */
const IDLE: ReadonlySet<string> = new Set(
  `
  futex_wait futex_wait_queue futex_wait_queue_me futex_do_wait futex_wait_multiple
  __futex_wait do_futex __x64_sys_futex __arm64_sys_futex
  ep_poll do_epoll_wait sys_epoll_wait do_epoll_pwait __x64_sys_epoll_wait __x64_sys_epoll_pwait
  __arm64_sys_epoll_pwait do_sys_poll do_poll poll_schedule_timeout do_select core_sys_select
  hrtimer_nanosleep do_nanosleep common_nsleep
  do_wait do_wait4 kernel_wait4 sys_pause sys_rt_sigsuspend sigsuspend
  do_sigtimedwait sys_rt_sigtimedwait __do_sys_pause __x64_sys_pause __arm64_sys_pause
  signalfd_dequeue signalfd_read signalfd_read_iter eventfd_read timerfd_read timerfd_read_iter inotify_read
  fanotify_read io_cqring_wait read_events do_io_getevents
  inet_csk_accept inet_csk_wait_for_connect unix_accept skb_wait_for_more_packets __skb_wait_for_more_packets
  __skb_recv_datagram __skb_recv_udp sk_wait_data unix_stream_data_wait unix_stream_read_generic
  pipe_wait pipe_read anon_pipe_read n_tty_read wait_woken tty_read do_syslog syslog_print devkmsg_read
  fuse_dev_do_read
  kthreadd kthread worker_thread rescuer_thread smpboot_thread_fn kswapd kswapd_try_to_sleep kcompactd
  kauditd_thread rcu_gp_kthread rcu_gp_fqs_loop rcu_tasks_kthread rcu_tasks_one_gp rcu_nocb_gp_kthread
  rcu_nocb_cb_kthread nocb_gp_wait nocb_cb_wait oom_reaper ksm_scan_thread khugepaged khugepaged_wait_work
  kjournald2 ext4_lazyinit_thread xfsaild irq_thread irq_wait_for_interrupt scsi_error_handler
  hub_thread psi_rtpoll_worker devtmpfsd devtmpfs_work_loop
  `
    .trim()
    .split(/\s+/),
);

/**
 * A place where a task waits for work. False also for what is not known, and for waits that a stall can hide in: locks,
 * writes to a full pipe, open of a fifo, requests to a filesystem. `do_signal_stop` and `ptrace_stop` are no such place.
 */
export function isIdle(wchan: string | null): boolean {
  const symbol = wchanSymbol(wchan);
  return symbol !== null && IDLE.has(symbol);
}
