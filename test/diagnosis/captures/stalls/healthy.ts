import { type AppPod, runAppPod } from '../../../lab/stalls/app-pod.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';

/** No stall at all: a pod that runs. */
export function healthy(): Promise<Stall & AppPod> {
  return stalled((folder, undo) => runAppPod(folder, undo));
}
