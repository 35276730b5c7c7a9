import { status } from '../../../lab/proc.ts';
import { signal } from '../../../lab/processes.ts';
import { type AppPod, runAppPod } from '../../../lab/stalls/app-pod.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';
import { until } from '../../../lab/wait.ts';

/** The shim is stopped (T), and a container of it dies: nobody reaps it. */
export function shimStopped(): Promise<Stall & AppPod> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    const { shimPid } = app.pod;
    undo.defer(() => signal(shimPid, 'SIGCONT'));
    signal(shimPid, 'SIGSTOP');
    await until('the shim to be stopped', 5000, () => status(shimPid)?.state === 'T');
    signal(app.initPid, 'SIGKILL');
    return app;
  });
}
