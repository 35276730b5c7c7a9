import { parseMountinfo } from '../formats/proc/mountinfo.ts';
import type { Deadline, Host } from '../host/port.ts';
import { readSysBlock } from './block-devices.ts';
import type { BlockDevice, Disks } from './disk-chain.ts';
import { namesIn } from './evidence-of.ts';

/** Mounts as a mountinfo text tells them, over block devices that were read before. */
export async function disksOf(
  host: Host,
  mountinfo: string,
  devices: readonly BlockDevice[],
  deadline: () => Deadline,
): Promise<Disks> {
  return {
    mounts: parseMountinfo(mountinfo),
    lines: new Map(mountinfo.split('\n').map(line => [Number.parseInt(line, 10), line])),
    devices,
    btrfs: await readBtrfs(host, deadline),
  };
}

/** The disks as this process sees them, outside of a capture; null when the mounts could not be read in time. */
export async function readDisks(host: Host, deadline: () => Deadline): Promise<Disks | null> {
  const [mountinfo, { devices }] = await Promise.all([
    host.readRisky([{ path: '/proc/self/mountinfo', maxBytes: 16 << 20 }], deadline()),
    readSysBlock(host, deadline),
  ]);
  const text = mountinfo[0]?.body.toString('utf8') ?? '';
  return text === '' ? null : disksOf(host, text, devices, deadline);
}

async function readBtrfs(host: Host, deadline: () => Deadline): Promise<readonly (readonly string[])[]> {
  const [root] = await host.readRisky([{ path: '/sys/fs/btrfs', what: 'dir' }], deadline());
  const uuids = root === undefined ? [] : namesIn(root).filter(name => /^[0-9a-f-]{36}\/$/.test(name));
  const lists = await host.readRisky(
    uuids.map(uuid => ({ path: `/sys/fs/btrfs/${uuid}devices`, what: 'dir' }) as const),
    deadline(),
  );
  return lists.map(list => namesIn(list).map(name => name.replace(/\/$/, '')));
}
