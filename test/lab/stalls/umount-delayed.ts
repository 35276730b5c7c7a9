import type { PodContainer } from '../pod.ts';
import { type Thread, threads } from '../proc.ts';
import { signal } from '../processes.ts';
import { delaySyscall } from '../strace.ts';
import { SYSCALL } from '../syscalls.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface UmountDelayed extends Stall, AppPod {
  /** The shim's thread that is held at the entry of umount2: in a ptrace stop (t), not in D. */
  readonly thread: Thread;
  /** More containers of the pod, which are well. */
  readonly siblings: readonly PodContainer[];
}

/** A shim that hangs in umount2 without D and without a disk: its goroutines look as in the classic, its kernel stack does not. */
export function umountDelayed(
  options: {
    readonly delayMs?: number;
    readonly siblings?: readonly string[];
    /** Of another version of containerd. */
    readonly bin?: string;
  } = {},
): Promise<UmountDelayed> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo, options.bin === undefined ? {} : { bin: options.bin });
    const { pod, initPid } = app;
    const siblings: PodContainer[] = [];
    for (const name of options.siblings ?? []) siblings.push(await pod.addContainer({ name }));
    undo.use(await delaySyscall(folder, pod.shimPid, 'umount2', options.delayMs ?? 120_000));
    signal(initPid, 'SIGKILL');
    const thread = await until('a thread of the shim held in umount2', 10_000, () =>
      threads(pod.shimPid).find(seen => seen.syscall === SYSCALL.umount2 && seen.state === 't'),
    );
    return { ...app, thread, siblings };
  });
}
