/** The five incidents that stallcap was born from, as the lab makes them. */
import { dockerStopped } from '../../test/lab/stalls/docker-stopped.ts';
import { exitEventLost } from '../../test/lab/stalls/exit-event-lost.ts';
import { overlayUmountSync } from '../../test/lab/stalls/overlay-umount-sync.ts';
import type { Stall } from '../../test/lab/stalls/stall.ts';
import { startBehindCappedDisk } from '../../test/lab/stalls/start-behind-capped-disk.ts';
import { umountDelayed } from '../../test/lab/stalls/umount-delayed.ts';

export interface Incident<S extends Stall = Stall> {
  /** Folder in examples/incidents. */
  readonly name: string;
  make(): Promise<S>;
  /** What happens then. @returns TARGET of the grab */
  begin(stall: S): Promise<string> | string;
  readonly settleMs: number;
}

const incident = <S extends Stall>(made: Incident<S>): Incident => made as unknown as Incident;

export const INCIDENTS: readonly Incident[] = [
  incident({
    name: 'umount-sync',
    make: () => overlayUmountSync(),
    begin: ({ pod }) => pod.id,
    settleMs: 20_000,
  }),
  incident({
    name: 'start-on-capped-disk',
    make: startBehindCappedDisk,
    begin: ({ pod }) => pod.id,
    settleMs: 15_000,
  }),
  incident({
    name: 'exit-event-lost',
    make: exitEventLost,
    begin: ({ pod }) => pod.id,
    settleMs: 15_000,
  }),
  incident({
    name: 'state-behind-delete',
    make: () => umountDelayed({ siblings: ['sidecar'] }),
    begin: async ({ containerd, pod }) => {
      // As a kubelet does that wants to know how its containers are.
      for (let times = 0; times < 3; times += 1) await containerd.ctr(['task', 'ls']);
      return pod.id;
    },
    settleMs: 8000,
  }),
  incident({
    name: 'docker-against-containerd',
    make: dockerStopped,
    begin: ({ container }) => container.id,
    settleMs: 15_000,
  }),
];
