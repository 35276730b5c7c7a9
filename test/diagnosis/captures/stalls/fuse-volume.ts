import { existsSync } from 'node:fs';
import { mounts } from '../../../lab/proc.ts';
import { run } from '../../../lab/run.ts';
import { type MountFuseStopped, mountFuseStopped } from '../../../lab/stalls/mount-fuse-stopped.ts';

const CONNECTIONS = '/sys/fs/fuse/connections';

/** The lab's stopped volume, with fusectl mounted as on any node with systemd: it says how many requests are unanswered. */
export async function fuseVolume(): Promise<MountFuseStopped> {
  const isMissing = existsSync(CONNECTIONS) && !mounts().some(({ point }) => point === CONNECTIONS);
  if (isMissing) await run('mount', ['-t', 'fusectl', 'none', CONNECTIONS]);
  const unmount = async () => {
    if (isMissing) await run('umount', [CONNECTIONS]);
  };
  try {
    const stall = await mountFuseStopped();
    const dispose = async () => {
      await using _ = { [Symbol.asyncDispose]: unmount };
      await stall[Symbol.asyncDispose]();
    };
    return { ...stall, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await unmount();
    throw error;
  }
}
