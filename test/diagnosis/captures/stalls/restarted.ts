import { type AppPod, runAppPod } from '../../../lab/stalls/app-pod.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';

/** No stall: containerd was killed and started again, and the pod lives on. */
export function restarted(): Promise<Stall & AppPod> {
  return stalled(async (folder, undo) => {
    const app = await runAppPod(folder, undo);
    await app.containerd.kill();
    await app.containerd.start();
    return app;
  });
}
