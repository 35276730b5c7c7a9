import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Thread, threads } from '../proc.ts';
import { delaySyscall } from '../strace.ts';
import { SYSCALL } from '../syscalls.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface EpollCtlDelayed extends Stall, AppPod {
  /** The shim's thread in epoll_ctl, a call that the Go runtime makes itself. */
  readonly thread: Thread;
  /** Lets the thread go on. As long as it is held, a garbage collection of the shim's hangs it as a dump would. */
  release(): Promise<void>;
}

/**
 * A thread of the shim that the Go runtime cannot stop: it answers as before, but a goroutine dump, which stops all
 * others first, waits for this thread, and from then on nothing is answered any more.
 */
export function epollCtlDelayed(options: { readonly delayMs?: number } = {}): Promise<EpollCtlDelayed> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    const { pod } = app;
    const held = undo.use(new AsyncDisposableStack());
    held.use(await delaySyscall(folder, pod.shimPid, 'epoll_ctl', options.delayMs ?? 120_000));
    // A new connection is what the runtime tells epoll about.
    const socket = connect(readFileSync(join(pod.bundle, 'address'), 'utf8').replace('unix://', ''));
    socket.on('error', () => undefined);
    undo.defer(() => void socket.destroy());
    const thread = await until('a thread of the shim held in epoll_ctl', 10_000, () =>
      threads(pod.shimPid).find(seen => seen.syscall === SYSCALL.epoll_ctl && seen.state === 't'),
    );
    return { ...app, thread, release: () => held.disposeAsync() };
  });
}
