import type { Containerd } from '../../test/lab/containerd.ts';
import type { Pod, PodContainer } from '../../test/lab/pod.ts';
import type { Thread } from '../../test/lab/proc.ts';
import { disksUnavailable } from '../../test/lab/requirements.ts';
import { overlayUmountSync } from '../../test/lab/stalls/overlay-umount-sync.ts';
import type { Stall } from '../../test/lab/stalls/stall.ts';
import { umountDelayed } from '../../test/lab/stalls/umount-delayed.ts';

/** What the demo shows, whichever stall this machine allows. */
export interface StuckPod extends Stall {
  readonly containerd: Containerd;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** Process of the container; it was killed. */
  readonly initPid: number;
  /** The shim's thread in umount2. */
  readonly thread: Thread;
  /** The slow disk: 'loop0'; null where a call is held by strace instead. */
  readonly device: string | null;
}

const DIRTY_MIB = 160;
const WRITE_RATE = '2M';

/** What is about to happen, in plain words, and the function that makes it happen. */
export function chooseStall(): { readonly words: string; make(): Promise<StuckPod> } {
  const noDisk = disksUnavailable();
  if (noDisk === null) {
    return {
      words: `A containerd of its own keeps its data on a disk that takes ${WRITE_RATE}B per second. A container in the pod shop/web-0
writes ${DIRTY_MIB} MiB, which stay in memory for now, and is killed, as a pod is that somebody deletes. Its shim unmounts the
container's filesystem, and the kernel writes all of it out first.`,
      async make() {
        const stall = await overlayUmountSync({ dirtyMiB: DIRTY_MIB, writeRate: WRITE_RATE });
        return { ...stall, device: stall.disk.device.replace('/dev/', '') };
      },
    };
  }
  return {
    words: `There can be no slow disk here: ${noDisk}.
So strace holds the call instead: a container in the pod shop/web-0 is killed, as a pod is that somebody deletes, and the
umount2 by which its shim takes the container's filesystem away does not return.`,
    make: async () => ({ ...(await umountDelayed()), device: null }),
  };
}
