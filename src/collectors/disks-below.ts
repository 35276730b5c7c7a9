import { type Mount, overlayDirs, parseMountinfo } from '../formats/proc/mountinfo.ts';
import type { FileResult } from '../host/port.ts';
import { insideNamespace } from '../sandbox/mount-prefix.ts';
import { sysBlockOf } from './block-devices.ts';
import type { Capture, Collector } from './collector.ts';
import { chainOf, type Disks, mountOf } from './disk-chain.ts';
import { deadlineOf } from './evidence-of.ts';
import { disksOf } from './read-disks.ts';
import { dockerdsOf, dockerRootsOf, rootsOf } from './runtime-places.ts';

/**
 * node/disks.txt: which mount and which device lie under containerd's root and under each writable layer of the target.
 * An overlay that is being unmounted is in no mountinfo any more; the layers of the other containers then tell where
 * the snapshotter keeps them.
 */
export const disksBelow: Collector = {
  name: 'disks-below',
  phase: 'sweep',
  deadlineMs: 5000,
  async *collect(capture) {
    const mountinfo = await readMountinfo(capture);
    const text = mountinfo.body.toString('utf8');
    const { devices } = await sysBlockOf(capture);
    const disks = await disksOf(capture.host, text, devices, () => deadlineOf(capture));
    const chapters = [
      ...rootsOf(capture).map(root => chapter(`containerd's root ${root}`, insideNamespace(root), disks)),
      ...(dockerdsOf(capture).length > 0 ? dockerRootsOf(capture) : []).map(root =>
        chapter(`docker's root ${root}`, insideNamespace(root), disks),
      ),
      ...(await ownLayers(capture, disks)),
      ...otherLayers(disks),
    ];
    const read = disks.mounts.length > 0;
    yield {
      path: 'node/disks.txt',
      source: `${mountinfo.path}, /sys/block, /sys/fs/btrfs`,
      outcome: read ? 'ok' : mountinfo.outcome,
      body: Buffer.from(chapters.map(lines => `${lines.join('\n')}\n`).join('\n')),
      ...(read ? {} : { detail: 'without mountinfo nothing can be told' }),
    };
  },
};

/** As the shim sees it: containerd may have a mount namespace of its own. */
async function readMountinfo(capture: Capture): Promise<FileResult> {
  const pids = [...capture.shims.slice(0, 1).map(({ pid }) => pid), 1];
  const files = await capture.host.readRisky(
    pids.map(pid => ({ path: `/proc/${pid}/mountinfo`, maxBytes: 16 << 20 })),
    deadlineOf(capture),
  );
  const last = files.at(-1);
  if (last === undefined) throw new RangeError('requests without results');
  return files.find(({ body }) => body.length > 0) ?? last;
}

/** The root filesystem of each container: at its bundle's rootfs, or (docker) as its init sees it. */
async function ownLayers(capture: Capture, disks: Disks): Promise<readonly (readonly string[])[]> {
  if (capture.target.kind !== 'sandbox') return [];
  const { containers } = capture.target.sandbox;
  const seen = await capture.host.readRisky(
    containers.map(({ initPid }) => ({ path: `/proc/${initPid ?? 0}/mountinfo`, maxBytes: 4 << 20 })),
    deadlineOf(capture),
  );
  return containers.map(({ id, name, bundle }, index) => {
    const atBundle = disks.mounts.findLast(({ mountPoint }) => mountPoint === `${insideNamespace(bundle)}/rootfs`);
    const ofInit = parseMountinfo(seen[index]?.body.toString('utf8') ?? '').find(
      ({ mountPoint }) => mountPoint === '/',
    );
    const upper = upperOf(atBundle) ?? upperOf(ofInit);
    const title = `writable layer of ${id}${name === null ? '' : ` (${name})`}`;
    if (upper !== null) return chapter(`${title}: ${upper}`, upper, disks);
    return [title, '  no overlay with an upperdir in mountinfo: read-only, not an overlay, or unmounted'];
  });
}

/** Overlays of all containers, counted by the mount that their writable layers are on. */
function otherLayers(disks: Disks): readonly (readonly string[])[] {
  const byMount = new Map<Mount, { count: number; example: string }>();
  for (const overlay of disks.mounts) {
    const upper = upperOf(overlay);
    const mount = upper === null ? null : mountOf(upper, disks.mounts);
    if (upper === null || mount === null) continue;
    const known = byMount.get(mount) ?? { count: 0, example: upper };
    byMount.set(mount, { ...known, count: known.count + 1 });
  }
  return [...byMount.values()].map(({ count, example }) =>
    chapter(`${count} writable ${count === 1 ? 'layer' : 'layers'} of the node, ${example} among them`, example, disks),
  );
}

/** A relative upperdir cannot be placed: containerd gives it only to lowerdir. */
function upperOf(mount: Mount | undefined): string | null {
  const upper = mount === undefined ? null : (overlayDirs(mount)?.upper ?? null);
  return upper?.startsWith('/') === true ? upper : null;
}

function chapter(title: string, path: string, disks: Disks): readonly string[] {
  return [title, ...chainOf(path, disks).map(line => `  ${line}`)];
}
