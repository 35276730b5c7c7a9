import { frozenSnapshots } from '../../../lab/stalls/mount-frozen.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';

/** The snapshots lie on a frozen disk, and whoever asked for the start has given up after 4 s; the shim's mount goes on hanging. */
export function createTimeout(): Promise<Stall & { readonly pod: { readonly id: string } }> {
  return stalled(async (folder, undo) => {
    const { pod, container } = await frozenSnapshots(folder, undo);
    await container.start(4000).catch(() => undefined);
    return { pod };
  });
}
