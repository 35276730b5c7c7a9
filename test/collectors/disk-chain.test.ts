import { describe, expect, it } from 'vitest';
import { type BlockDevice, chainOf, type Disks, mountOf } from '../../src/collectors/disk-chain.ts';
import { parseMountinfo } from '../../src/formats/proc/mountinfo.ts';

const device = (name: string, number: string, more: Partial<BlockDevice> = {}): BlockDevice => ({
  ...{ name, device: number, slaves: [], partOf: null, backingFile: null, mapperName: null },
  ...more,
});

function disksOf(mountinfo: string, devices: readonly BlockDevice[], btrfs: Disks['btrfs'] = []): Disks {
  const lines = new Map(mountinfo.split('\n').map(line => [Number.parseInt(line, 10), line]));
  return { mounts: parseMountinfo(mountinfo), lines, devices, btrfs };
}

const ROOT = '1 0 254:0 / / rw - ext4 /dev/vda rw';
const VDA = device('vda', '254:0');

describe('what carries a path', () => {
  it('is followed through a loop device and its file to the FUSE filesystem that has no device', () => {
    const mountinfo = [
      ROOT,
      '43 1 0:52 / /slow rw,relatime - fuse.bindfs /backing rw',
      '41 1 7:0 / /var/lib/containerd rw,relatime - ext4 /dev/loop0 rw',
    ].join('\n');
    const disks = disksOf(mountinfo, [VDA, device('loop0', '7:0', { backingFile: '/slow/disk.img' })]);
    expect(chainOf('/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs', disks)).toEqual([
      'mount: 41 1 7:0 / /var/lib/containerd rw,relatime - ext4 /dev/loop0 rw',
      'device 7:0 is loop0',
      '  loop0 is the file /slow/disk.img',
      '    mount: 43 1 0:52 / /slow rw,relatime - fuse.bindfs /backing rw',
      '    no block device below: fuse.bindfs, from /backing',
    ]);
  });

  it('is followed through device-mapper and a partition to the disks', () => {
    const disks = disksOf(`${ROOT}\n40 1 253:1 / /var rw - xfs /dev/mapper/vg-var rw`, [
      VDA,
      device('sda', '8:0'),
      device('sda2', '8:2', { partOf: 'sda' }),
      device('nvme0n1', '259:0'),
      device('dm-1', '253:1', { slaves: ['sda2', 'nvme0n1'], mapperName: 'vg-var' }),
    ]);
    expect(chainOf('/var/lib', disks)).toEqual([
      'mount: 40 1 253:1 / /var rw - xfs /dev/mapper/vg-var rw',
      'device 253:1 is dm-1 (vg-var)',
      '  device 8:2 is sda2, a partition of sda',
      '  device 259:0 is nvme0n1',
    ]);
  });

  it('is every device of a btrfs, whose mount has a number of no device', () => {
    const mountinfo = `${ROOT}\n40 1 0:30 /@var /var rw - btrfs /dev/mapper/data rw`;
    const devices = [
      VDA,
      device('dm-3', '253:3', { mapperName: 'data' }),
      device('sdb', '8:16'),
      device('sdc', '8:32'),
    ];
    expect(chainOf('/var/lib', disksOf(mountinfo, devices, [['sdc'], ['dm-3', 'sdb']]))).toEqual([
      'mount: 40 1 0:30 /@var /var rw - btrfs /dev/mapper/data rw',
      'device 253:3 is dm-3 (data)',
      'device 8:16 is sdb',
    ]);
  });

  it('is what an overlay writes to', () => {
    const mountinfo = `${ROOT}\n50 1 0:60 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/var/up\\040per,workdir=/w`;
    expect(chainOf('/merged/x', disksOf(mountinfo, [VDA])).slice(1)).toEqual([
      'overlay, upperdir /var/up per',
      `  mount: ${ROOT}`,
      '  device 254:0 is vda',
    ]);
  });

  it('ends where a loop device lies on itself', () => {
    const mountinfo = `${ROOT}\n40 1 7:0 / /a rw - ext4 /dev/loop0 rw`;
    const lines = chainOf('/a', disksOf(mountinfo, [device('loop0', '7:0', { backingFile: '/a/disk.img' })]));
    expect(lines.at(-1)).toMatch(/^ +\(not followed any deeper\)$/);
  });

  it('is unknown without a mount table', () => {
    expect(chainOf('/a', disksOf('', []))).toEqual(['not below any mount of mountinfo']);
  });
});

describe('the mount of a path', () => {
  const mounts = parseMountinfo(
    `${ROOT}\n2 1 0:2 / /var rw - tmpfs a rw\n3 1 0:3 / /var/lib rw - tmpfs b rw\n4 1 0:4 / /var/lib rw - tmpfs c rw`,
  );

  it.each([
    ['/variable', 1],
    ['/var', 2],
    ['/var/log', 2],
    ['/var/lib', 4],
    ['/var/lib/x', 4],
  ])('of %s is the deepest above it, and the last of several at one place', (path, id) => {
    expect(mountOf(path, mounts)?.id).toBe(id);
  });
});
