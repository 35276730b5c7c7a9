import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { signal } from '../processes.ts';
import { delaying } from '../strace.ts';
import { until } from '../wait.ts';
import { type AppPod, runAppPod } from './app-pod.ts';
import { type Stall, stalled } from './stall.ts';

export interface ExitEventLost extends Stall, AppPod {
  /** Was killed while containerd was starting. */
}

/**
 * A container dies while a restarted containerd (1.6, and 1.7 up to 1.7.33) writes that container's status, before it
 * listens for the end: CRI says running for ever.
 */
export function exitEventLost(): Promise<ExitEventLost> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    const { containerd, container, initPid } = app;
    await containerd.kill();
    // The status is written to a file beside it and synced; held there, containerd leaves time to kill.
    const started = containerd.start(['strace', ...delaying('fsync', 2000)]);
    started.catch(() => undefined);
    const store = join(containerd.root, 'io.containerd.grpc.v1.cri', 'containers', container.id);
    await until(
      'containerd to write the status',
      15_000,
      () => readdirSync(store).some(name => name.includes('tmp')),
      5,
    );
    signal(initPid, 'SIGKILL');
    await started;
    await until('the task to be stopped', 15_000, async () =>
      new RegExp(`${container.id} +\\d+ +STOPPED`).test(await containerd.ctr(['task', 'ls'])),
    );
    return { ...app };
  });
}
