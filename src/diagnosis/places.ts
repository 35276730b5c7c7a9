/** Filesystems and devices that a pod's containers and its runtime stand on. */
import type { Blocked } from './blocked.ts';
import type { Citation } from './citation.ts';
import type { Facts } from './facts.ts';
import type { Part } from './rule.ts';
import type { Device, DiskChain } from './types/disks.ts';

export interface Place {
  /** `/var/lib/containerd (nvme1n1)` */
  readonly words: string;
  /** `259:1`: the superblock. */
  readonly filesystem: string | null;
  readonly fsType: string | null;
  /** The device right below it, as far as it was sampled. */
  readonly device: Device | null;
  readonly cite: Citation;
}

type Disks = Pick<Facts, 'mounts' | 'devices'>;

/** Where the writable layers of the pod are; of a layer that is not mounted, the layers beside it or containerd's root tell. */
export function layersPlace(disks: Disks): Place | null {
  const chains = disks.mounts?.chains.filter(({ device }) => device !== null) ?? [];
  const layers = chains.filter(({ role }) => role === 'writable layer');
  const root = chains.find(({ role }) => role !== 'writable layer');
  const own = layers.find(({ container }) => container !== null);
  // Several containerds may run on a node: layers of others count only where there is one place for all.
  const shared = new Set(layers.map(({ device }) => device)).size === 1 ? layers[0] : undefined;
  const chain = own ?? shared ?? root;
  return chain === undefined ? null : placeOf(chain, disks);
}

/** Where containerd (or docker) keeps its metadata and CRI's status files; null when several daemons do so in different places. */
function rootPlace(disks: Disks, role: DiskChain['role'] = "containerd's root"): Place | null {
  const chains = disks.mounts?.chains.filter(chain => chain.device !== null && chain.role === role) ?? [];
  const [first] = chains;
  const isOne = new Set(chains.map(({ device }) => device)).size === 1;
  return first === undefined || !isOne ? null : placeOf(first, disks);
}

/** The filesystem that a blocked thread most likely works on; null where that cannot be told. */
export function placeOfBlocked({ thread, whose }: Pick<Blocked, 'thread' | 'whose'>, disks: Disks): Place | null {
  if (thread.role === 'shim') return layersPlace(disks);
  if (whose !== 'runtime' || thread.comm === 'kubelet') return null;
  const root = rootPlace(disks, thread.comm === 'dockerd' ? "docker's root" : "containerd's root");
  // Snapshots may lie on a disk of their own: then nobody sees in a thread which of the two it waits for.
  const layers = disks.mounts?.chains.filter(({ device, role }) => device !== null && role === 'writable layer') ?? [];
  // Several containerds may run on a node: the layers of the pod are this one's.
  const own = layers.filter(({ container }) => container !== null);
  return (own.length > 0 ? own : layers).every(({ device }) => device === root?.filesystem) ? root : null;
}

function placeOf(chain: DiskChain, { devices }: Disks): Place {
  const name = chain.devices[0] ?? null;
  const at = chain.mountPoint ?? chain.path;
  return {
    words: name === null ? at : `${at} (${name})`,
    filesystem: chain.device,
    fsType: chain.fsType,
    device: devices?.all.find(device => device.name === name) ?? null,
    cite: chain.cite,
  };
}

/** The superblock, as a part of the wait chain. */
export function filesystemPart(place: Pick<Place, 'filesystem'> | null): Part | null {
  return place === null || place.filesystem === null ? null : `filesystem:${place.filesystem}`;
}

/** In every sample nothing in flight. False for a device that was not sampled. */
export function isIdle(device: Device | null): boolean {
  return device !== null && device.samples.length > 0 && device.samples.every(({ inFlight }) => inFlight === 0);
}
