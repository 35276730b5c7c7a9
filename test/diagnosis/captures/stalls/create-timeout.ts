import { join } from 'node:path';
import { startContainerd } from '../../../lab/containerd.ts';
import { freeze, makeDisk } from '../../../lab/disk.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';

/** The snapshots lie on a frozen disk, and whoever asked for the start has given up after 4 s; the shim's mount goes on hanging. */
export function createTimeout(): Promise<Stall & { readonly pod: { readonly id: string } }> {
  return stalled(async (folder, undo) => {
    const disk = await makeDisk(folder);
    const config = `[plugins."io.containerd.snapshotter.v1.overlayfs"]\n  root_path = "${join(disk.point, 'snapshots')}"`;
    const containerd = undo.use(await startContainerd({ folder, config }));
    const pod = await containerd.runPod({ name: 'web-0', namespace: 'shop' });
    const container = await pod.createContainer({ name: 'app' });
    await freeze(disk.point, undo);
    await container.start(4000).catch(() => undefined);
    return { pod };
  });
}
