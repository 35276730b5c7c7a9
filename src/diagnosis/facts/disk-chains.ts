import { cite } from '../citation.ts';
import type { DeviceRole, DiskChain } from '../facts.ts';
import type { Entries } from './entries.ts';

const DISKS = 'node/disks.txt';

const TITLES: readonly (readonly [RegExp, DeviceRole])[] = [
  [/^containerd's root (?<path>.+)$/, "containerd's root"],
  [/^docker's root (?<path>.+)$/, "docker's root"],
  [/^writable layer of (?<id>\S+)(?: \([^)]*\))?(?:: (?<path>.+))?$/, 'writable layer'],
];

/** Of the node's other layers the target's disk is told only where none of its own is left in mountinfo. */
const OTHERS = /^\d+ writable layers? of the node, (?<path>.+) among them$/;

/** Chapters of node/disks.txt (collectors/disks-below.ts): what lies below containerd's root and below the pod's layers. */
export function diskChainsFrom(entries: Entries): readonly DiskChain[] {
  const text = entries.text(DISKS);
  if (text === null) return [];
  const chains: DiskChain[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const title = titleOf(line);
    if (title === null) continue;
    const body = bodyBelow(lines, index);
    const mount = body.map(row => MOUNT.exec(row)).find(match => match !== null);
    const devices = body.flatMap(row => DEVICE.exec(row)?.slice(1, 3).filter(Boolean) ?? []);
    chains.push({
      ...title,
      device: mount?.[1] ?? null,
      mountPoint: mount?.[2] ?? null,
      fsType: mount?.[3] ?? null,
      devices: [...new Set(devices)],
      cite: cite(DISKS, index + 1, line),
    });
  }
  return chains;
}

/** `mount: 61 27 7:0 / /var/lib/containerd rw,relatime - ext4 /dev/loop0 rw`: of an overlay the one below it counts. */
const MOUNT = /^ *mount: \d+ \d+ (\d+:\d+) \S+ (\S+) .*? - (?!overlay )(\S+) /;
/** `device 254:1 is vda1, a partition of vda`, `device 253:0 is dm-0 (vg-containers)` */
const DEVICE = /^ *device \d+:\d+ is ([^\s,]+)(?: \([^)]*\))?(?:, a partition of (\S+))?/;

function titleOf(line: string): Pick<DiskChain, 'role' | 'path' | 'container'> | null {
  for (const [form, role] of TITLES) {
    const groups = form.exec(line)?.groups;
    if (groups !== undefined) return { role, path: groups['path'] ?? '', container: groups['id'] ?? null };
  }
  const other = OTHERS.exec(line)?.groups?.['path'];
  return other === undefined ? null : { role: 'writable layer', path: other, container: null };
}

function bodyBelow(lines: readonly string[], title: number): readonly string[] {
  const end = lines.findIndex((line, index) => index > title && !line.startsWith(' '));
  return lines.slice(title + 1, end < 0 ? undefined : end);
}

/** Chains that carry the target itself: containerd's (or docker's) root, and its own layers. */
export function chainsOfTarget(chains: readonly DiskChain[]): readonly DiskChain[] {
  return chains.filter(({ role, container }) => role !== 'writable layer' || container !== null);
}
