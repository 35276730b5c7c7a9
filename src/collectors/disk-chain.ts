import { type Mount, overlayDirs } from '../formats/proc/mountinfo.ts';

/** A block device or a partition, as /sys/block tells it. */
export interface BlockDevice {
  /** 'vda', 'vda1', 'dm-0', 'loop0' */
  readonly name: string;
  /** '254:0', as in mountinfo */
  readonly device: string;
  /** What device-mapper or md is built from. */
  readonly slaves: readonly string[];
  /** The whole disk of a partition. */
  readonly partOf: string | null;
  /** The file behind a loop device. */
  readonly backingFile: string | null;
  /** /dev/mapper/<this> */
  readonly mapperName: string | null;
}

export interface Disks {
  /** In the kernel's order. */
  readonly mounts: readonly Mount[];
  /** Mount id -> its line in mountinfo, as it stands. */
  readonly lines: ReadonlyMap<number, string>;
  readonly devices: readonly BlockDevice[];
  /** Device names of each btrfs filesystem, from /sys/fs/btrfs/<uuid>/devices. */
  readonly btrfs: readonly (readonly string[])[];
}

/** A loop device on an overlay on a loop device …: nobody builds deeper. */
const MAX_DEPTH = 8;

/**
 * What carries a path, down to the hardware: the mount it is on, with its raw line, then each device below. Indented
 * lines for people:
 *
 *     mount: 41 1 7:0 / /var/lib/containerd rw,relatime - ext4 /dev/loop0 rw
 *     device 7:0 is loop0
 *       loop0 is the file /slow/disk.img
 *         mount: 43 1 0:52 / /slow rw,relatime - fuse.bindfs /backing rw
 *         no block device below: fuse.bindfs, from /backing
 */
export function chainOf(path: string, disks: Disks, depth = 0): readonly string[] {
  const mount = mountOf(path, disks.mounts);
  if (mount === null) return ['not below any mount of mountinfo'];
  if (depth > MAX_DEPTH) return ['(not followed any deeper)'];
  const line = `mount: ${disks.lines.get(mount.id) ?? mount.mountPoint}`;
  const upper = overlayDirs(mount)?.upper ?? null;
  if (upper !== null) return [line, `overlay, upperdir ${upper}`, ...indent(chainOf(upper, disks, depth + 1))];
  const devices = devicesOf(mount, disks);
  if (devices.length === 0) return [line, `no block device below: ${mount.type}, from ${mount.source}`];
  return [line, ...devices.flatMap(device => deviceLines(device, disks, depth))];
}

/** The mount that a path is on: the longest mount point above it; of several at the same place the last hides the others. */
export function mountOf(path: string, mounts: readonly Mount[]): Mount | null {
  let best: Mount | null = null;
  for (const mount of mounts) {
    const { mountPoint } = mount;
    const above = mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);
    if (above && mountPoint.length >= (best?.mountPoint.length ?? 0)) best = mount;
  }
  return best;
}

/** By device number; btrfs has an anonymous one (0:n), so by its source, which names one of its devices. */
function devicesOf(mount: Mount, { devices, btrfs }: Disks): readonly BlockDevice[] {
  const own = devices.filter(({ device }) => device === mount.device);
  if (own.length > 0) return own;
  const named = devices.find(({ name, mapperName }) => isSource(mount.source, name, mapperName));
  if (named === undefined) return [];
  const members = btrfs.find(names => names.includes(named.name)) ?? [named.name];
  return devices.filter(({ name }) => members.includes(name));
}

function isSource(source: string, name: string, mapperName: string | null): boolean {
  return source === `/dev/${name}` || (mapperName !== null && source === `/dev/mapper/${mapperName}`);
}

/**
 * Names of the whole disks that carry a path, in no order: partitions, device-mapper, md, loop files, overlays and btrfs
 * resolved to what can stall by itself. Empty where there is none (tmpfs, a network filesystem).
 */
export function wholeDisksOf(path: string, disks: Disks, depth = 0): ReadonlySet<string> {
  const mount = mountOf(path, disks.mounts);
  if (mount === null || depth > MAX_DEPTH) return new Set();
  const upper = overlayDirs(mount)?.upper ?? null;
  if (upper !== null) return wholeDisksOf(upper, disks, depth + 1);
  return new Set(devicesOf(mount, disks).flatMap(device => [...wholeDisks(device, disks, depth)]));
}

function wholeDisks(device: BlockDevice, disks: Disks, depth: number): ReadonlySet<string> {
  if (device.backingFile !== null) {
    const below = wholeDisksOf(device.backingFile, disks, depth + 1);
    return below.size > 0 ? below : new Set([device.name]);
  }
  const names = [...device.slaves, ...(device.partOf === null ? [] : [device.partOf])];
  const below = disks.devices.filter(({ name }) => names.includes(name));
  if (below.length === 0 || depth > MAX_DEPTH) return new Set([device.name]);
  return new Set(below.flatMap(next => [...wholeDisks(next, disks, depth + 1)]));
}

function deviceLines(device: BlockDevice, disks: Disks, depth: number): readonly string[] {
  const { name, partOf, backingFile, mapperName, slaves } = device;
  const known = mapperName === null ? name : `${name} (${mapperName})`;
  const lines = [`device ${device.device} is ${known}${partOf === null ? '' : `, a partition of ${partOf}`}`];
  if (backingFile !== null) {
    lines.push(...indent([`${name} is the file ${backingFile}`, ...indent(chainOf(backingFile, disks, depth + 1))]));
  }
  if (depth > MAX_DEPTH) return lines;
  for (const below of [...slaves, ...(partOf === null ? [] : [partOf])]) {
    const found = disks.devices.find(candidate => candidate.name === below);
    // A whole disk without anything below it was named already.
    const plain =
      below === partOf && (found === undefined || (found.slaves.length === 0 && found.backingFile === null));
    if (!plain) lines.push(...indent(found === undefined ? [below] : deviceLines(found, disks, depth + 1)));
  }
  return lines;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map(line => `  ${line}`);
}
