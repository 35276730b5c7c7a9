import { type OverlayUmountSync, overlayUmountSync } from '../../../lab/stalls/overlay-umount-sync.ts';

/** The classic, and somebody who asks for all tasks: the shim keeps each State of the dead container waiting behind its Delete. */
export async function stateBehindDelete(): Promise<OverlayUmountSync> {
  const stall = await overlayUmountSync();
  const ask = () => stall.containerd.ctr(['-n', 'k8s.io', 'task', 'ls'], 10_000).catch(() => '');
  await Promise.all([ask(), ask()]);
  return stall;
}
