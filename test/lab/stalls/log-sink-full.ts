import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { ContainerdOptions } from '../containerd.ts';
import { pids, status, type Thread, threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { SYSCALL } from '../syscalls.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface LogSinkFull extends Stall, AppPod {
  /** Who should read containerd's log, and is stopped. */
  readonly readerPid: number;
  /** containerd's thread that cannot write on. */
  readonly thread: Thread;
}

/** containerd logs into a pipe that is full, because its reader is stopped: whoever logs next hangs, with a lock in hand. */
export function logSinkFull(options: Omit<ContainerdOptions, 'folder' | 'stderr'> = {}): Promise<LogSinkFull> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo, { ...options, stderr: 'pipe' });
    const { containerd } = app;
    const shell = status(containerd.pid)?.ppid;
    const readerPid = await until('the reader of the pipe', 5000, () =>
      pids().find(pid => status(pid)?.ppid === shell && status(pid)?.comm === 'cat'),
    );
    undo.defer(() => signal(readerPid, 'SIGCONT'));
    signal(readerPid, 'SIGSTOP');
    await until('the reader to be stopped', 5000, () => status(readerPid)?.state === 'T');
    fill(`/proc/${containerd.pid}/fd/2`);
    // Any request that is logged: nobody waits for its answer.
    containerd.cri.call('RemoveContainer', { container_id: 'unknown' }, 1000).catch(() => undefined);
    const thread = await until('a thread of containerd that cannot write its log', 10_000, () =>
      threads(containerd.pid).find(seen => seen.syscall === SYSCALL.write && seen.wchan.endsWith('pipe_write')),
    );
    return { ...app, readerPid, thread };
  });
}

/** Writes empty lines into a pipe until it takes no more: a page at a time, then what is left byte by byte. */
function fill(pipe: string): void {
  const file = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    for (const size of [4096, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size, '\n'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}
