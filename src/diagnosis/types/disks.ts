import type { Citation } from '../citation.ts';

/** What a device did from one sample to another. */
export interface DeviceRates {
  readonly seconds: number;
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  readonly readBytesPerSecond: number;
  readonly writtenBytesPerSecond: number;
  /** Mean ms from queueing to completion, of requests that were completed; null when none was. */
  readonly readAwaitMs: number | null;
  readonly writeAwaitMs: number | null;
  readonly awaitMs: number | null;
  /** Share of the time with a request in flight, 0 to 100 (a little above by rounding is cut). */
  readonly utilPercent: number;
  /** Mean number of requests in flight. */
  readonly queueLength: number;
  /** Reads, writes, discards and flushes that were completed. */
  readonly completed: number;
}

export interface DeviceSample {
  readonly offsetMs: number;
  readonly inFlight: number;
  readonly cite: Citation;
}

/** What lies on it that matters here. */
export type DeviceRole =
  | "containerd's root"
  | "docker's root"
  | 'writable layer'
  | 'kubelet'
  | 'root filesystem'
  | 'pod volume';

/** One row of diskstats over the samples: a disk, a partition, a loop or mapper device. */
export interface Device {
  /** `nvme1n1`, `loop0`, `dm-0`. */
  readonly name: string;
  /** `259:0`. */
  readonly number: string;
  readonly roles: readonly DeviceRole[];
  readonly mountPoints: readonly string[];
  /** Devices that carry it, to the hardware: partition -> disk, dm -> its members, loop -> the disk of its file. */
  readonly below: readonly string[];
  readonly samples: readonly DeviceSample[];
  /** Over all samples; null with fewer than two. */
  readonly rates: DeviceRates | null;
  /** From each sample to the next, to see whether it is flat. */
  readonly intervals: readonly DeviceRates[];
  /** Requests were in flight in every sample. */
  readonly alwaysInFlight: boolean;
}

export interface DeviceFacts {
  readonly all: readonly Device[];
  readonly samples: number;
  readonly spanMs: number;
}

/** What lies below a path, as node/disks.txt says it. */
export interface DiskChain {
  readonly role: DeviceRole;
  readonly path: string;
  /** Container of a writable layer. */
  readonly container: string | null;
  readonly mountPoint: string | null;
  readonly fsType: string | null;
  /** `254:1`, of the mount: anonymous (0:n) for btrfs, nfs, fuse, tmpfs. */
  readonly device: string | null;
  /** Names in diskstats, nearest first. Empty where there is none. */
  readonly devices: readonly string[];
  readonly cite: Citation;
}

export interface MountFact {
  readonly id: number;
  readonly device: string;
  readonly mountPoint: string;
  readonly root: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
  readonly superOptions: readonly string[];
  /** Of an overlay; `volatile`: its umount needs no sync. */
  readonly upper: string | null;
  readonly volatile: boolean;
  /** It belongs to this pod: in a bundle directory, or in the kubelet's directory of its uid. */
  readonly ofPod: boolean;
  readonly container: string | null;
  readonly cite: Citation;
}

export interface MountFacts {
  /** Overlays of other pods are counted in `others`, not kept. */
  readonly all: readonly MountFact[];
  readonly others: number;
  readonly chains: readonly DiskChain[];
}

/** One FUSE connection (node/fuse.txt). */
export interface FuseConnection {
  /** Minor number of its mounts' device: 52 is `0:52`. */
  readonly connection: number;
  /** Requests that the server has not answered. */
  readonly waiting: number;
  readonly mounts: readonly MountFact[];
  readonly ofPod: boolean;
  readonly cite: Citation;
}

/** Share of the wall time that tasks waited, from the growth of `total`, 0 to 1; null with fewer than two samples. */
export interface PressureShare {
  readonly some: number | null;
  readonly full: number | null;
  /** Last sample. */
  readonly avg10Some: number | null;
  readonly avg10Full: number | null;
  readonly avg60Full: number | null;
  /** The same between each two samples; empty with one. */
  readonly series: readonly { readonly untilMs: number; readonly some: number; readonly full: number }[];
  readonly cite: Citation;
}

export interface Pressure {
  readonly io: PressureShare | null;
  readonly memory: PressureShare | null;
  readonly cpu: PressureShare | null;
}

export interface PressureFacts {
  readonly node: Pressure;
  /** Of the pod's cgroups: container id, or the pod's cgroup path. Empty on cgroup v1. */
  readonly pod: ReadonlyMap<string, Pressure>;
}

export interface DirtySample {
  readonly offsetMs: number;
  readonly dirtyBytes: number;
  readonly writebackBytes: number;
  readonly cite: Citation;
}

/** Dirty pages, and how long they will take. */
export interface DirtyFacts {
  /** Whose: of `device` alone where the node told, else of all disks, which is the most that can be `device`'s. */
  readonly of: 'device' | 'node';
  readonly samples: readonly [DirtySample, ...DirtySample[]];
  /** Dirty and Writeback of the last sample. */
  readonly bytes: number;
  /** The device that they are taken to wait for: below the writable layers, else below containerd's root. */
  readonly device: string | null;
  readonly writtenBytesPerSecond: number | null;
  /** bytes ÷ rate: about how long a umount that syncs has to wait; null without a rate, and for a rate of 0. */
  readonly drainMs: number | null;
}

/** One cgroup that shares the disk. */
export interface Writer {
  readonly cgroup: string;
  /** `shop/batch-7`, a service, or the cgroup's own name where the bundle does not tell. */
  readonly name: string;
  readonly podUid: string | null;
  readonly container: string | null;
  /** It is the target itself. */
  readonly ofTarget: boolean;
  readonly writtenBytesPerSecond: number;
  readonly readBytesPerSecond: number;
  /** Of all that was written by leaf cgroups on that device, 0 to 1; null on v1, where buffered writes are not attributed. */
  readonly share: number | null;
  /** memory.stat: v2 file_dirty, file_writeback; v1 total_dirty, total_writeback (dirty, writeback). */
  readonly dirtyBytes: number | null;
  readonly writebackBytes: number | null;
  readonly cite: Citation;
}

export interface WriterFacts {
  /** v1's blkio counts direct writes alone: no percentages from it. */
  readonly version: 1 | 2;
  /** Most written first, then most dirty. */
  readonly all: readonly Writer[];
}
