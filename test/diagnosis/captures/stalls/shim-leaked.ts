import { setTimeout as sleep } from 'node:timers/promises';
import { signal } from '../../../lab/processes.ts';
import { runAppPod } from '../../../lab/stalls/app-pod.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';

/** The shim was stopped while a new containerd asked it, which gave it up after 5 s; now it goes on, and nobody knows it. */
export function shimLeaked(): Promise<Stall & { readonly pod: { readonly id: string } }> {
  return stalled(async (folder, undo) => {
    const { containerd, pod } = await runAppPod(folder, undo);
    const { shimPid } = pod;
    folder.process(shimPid, 'containerd-shim');
    undo.defer(() => signal(shimPid, 'SIGKILL'));
    await containerd.kill();
    signal(shimPid, 'SIGSTOP');
    await containerd.start();
    await sleep(8000);
    signal(shimPid, 'SIGCONT');
    return { pod: { id: `pid:${shimPid}` } };
  });
}
