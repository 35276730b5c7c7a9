import { expect, test } from 'vitest';
import { currentDirectory } from '../../src/capture/current-directory.ts';
import { PaperHost } from '../collectors/paper-host.ts';

const ROOTS = ['/var/lib/containerd'];
const NODE = [
  '1 0 254:0 / / rw - ext4 /dev/vda rw',
  '2 1 259:0 / /var/lib/containerd rw - xfs /dev/nvme1n1 rw',
  '3 1 0:21 / /run rw - tmpfs tmpfs rw',
];
/** As runc mounts it: the layers have paths of the node, which mean nothing in here. */
const LAYER = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/7';
const CONTAINER = [
  `1 0 0:60 / / rw - overlay overlay rw,lowerdir=${LAYER}/../6/fs,upperdir=${LAYER}/fs,workdir=${LAYER}/work`,
  '2 1 0:21 / /run rw - tmpfs tmpfs rw',
];

const standingOf = async (cwd: string, mounts: readonly string[]) => {
  const disks = ['vda 254:0', 'nvme1n1 259:0'].flatMap(line => {
    const [name, device] = line.split(' ');
    return [
      [`/sys/block/${name}/dev`, `${device}\n`],
      [`/sys/block/${name}/size`, '1024\n'],
    ] as const;
  });
  const files = { ...Object.fromEntries(disks), '/proc/self/mountinfo': `${mounts.join('\n')}\n`, [cwd]: '' };
  return (await currentDirectory(new PaperHost(files).host, cwd, ROOTS)).standing;
};

test.each([
  ['/root', 'apart', NODE],
  ['/var/lib/containerd/tmp', 'shared', NODE],
  ['/run/x', 'apart', NODE],
  // A pod with hostPID that was started without -o: its layer is on the disk that may be the stalled one.
  ['/work', 'shared', CONTAINER],
  ['/run/x', 'apart', CONTAINER],
] as const)('%s is %s', async (cwd, standing, mounts) => {
  expect(await standingOf(cwd, mounts)).toBe(standing);
});

test('a directory that was removed, or does not answer, takes no bundle', async () => {
  expect((await currentDirectory(new PaperHost().host, null, ROOTS)).standing).toBe('gone');
  expect((await currentDirectory(new PaperHost().host, '/root', ROOTS)).standing).toBe('silent');
});
