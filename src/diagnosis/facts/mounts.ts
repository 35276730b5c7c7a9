import { type Mount, overlayDirs, parseMountinfo } from '../../formats/proc/mountinfo.ts';
import { cite } from '../citation.ts';
import type { FuseConnection, MountFact, MountFacts, TargetFacts } from '../facts.ts';
import { diskChainsFrom } from './disk-chains.ts';
import type { Entries } from './entries.ts';
import { parseSections } from './sections.ts';

const SHIM_MOUNTS = /^shim(?:\/\d+)?\/mountinfo$/;
const NODE_MOUNTS = 'node/mountinfo';
/** Filesystems without a disk or server that could stall, and overlays, of which every container of the node has one. */
const OF_NO_INTEREST = new Set(
  `overlay tmpfs ramfs shm nsfs proc sysfs mqueue devpts devtmpfs cgroup cgroup2 securityfs debugfs tracefs configfs bpf fusectl
  hugetlbfs pstore autofs binfmt_misc efivarfs rpc_pipefs selinuxfs`.split(/\s+/),
);

/** What is mounted, as the shim sees it and as PID 1 does; what belongs to other pods and hides nothing is only counted. */
export function mountsFrom(entries: Entries, target: TargetFacts): MountFacts | null {
  const paths = [...entries.matching(SHIM_MOUNTS), NODE_MOUNTS];
  const texts = paths.flatMap(path => {
    const text = entries.text(path);
    return text === null || text === '' ? [] : [{ path, text }];
  });
  const chains = diskChainsFrom(entries);
  if (texts.length === 0) return chains.length === 0 ? null : { all: [], others: 0, chains };
  const seen = new Map<string, MountFact>();
  const counted = new Set<string>();
  for (const { path, text } of texts) {
    const lines = new Map(text.split('\n').map((line, index) => [Number.parseInt(line, 10), index + 1]));
    const raw = text.split('\n');
    for (const mount of parseMountinfo(text)) {
      const key = `${mount.device} ${mount.root} ${mount.mountPoint}`;
      const line = lines.get(mount.id) ?? 1;
      const fact = factOf(mount, target, path, line, raw[line - 1] ?? '');
      if (!fact.ofPod && OF_NO_INTEREST.has(mount.type)) counted.add(key);
      else if (!seen.has(key)) seen.set(key, fact);
    }
  }
  return { all: [...seen.values()], others: counted.size, chains };
}

function factOf(mount: Mount, target: TargetFacts, path: string, line: number, text: string): MountFact {
  const { id, device, mountPoint, root, type, source, options, superOptions } = mount;
  const overlay = overlayDirs(mount);
  const container = [...target.ids].find(candidate => mountPoint.includes(candidate)) ?? null;
  const ofKubelet = target.podUid !== null && mountPoint.includes(`/pods/${target.podUid}/`);
  return {
    ...{ id, device, mountPoint, root, type, source, options, superOptions },
    upper: overlay?.upper ?? null,
    volatile: overlay?.volatile ?? false,
    ofPod: container !== null || ofKubelet,
    container,
    cite: cite(path, line, text),
  };
}

const FUSE = 'node/fuse.txt';

/** Connections of node/fuse.txt with their mounts. Null when not captured; empty where the node has no FUSE filesystem. */
export function fuseFrom(entries: Entries, mounts: MountFacts | null): readonly FuseConnection[] | null {
  const text = entries.text(FUSE);
  if (text === null) return null;
  return parseSections(text).flatMap((section): readonly FuseConnection[] => {
    const connection = /\/connections\/(\d+)\/waiting$/.exec(section.path)?.[1];
    if (connection === undefined || !/^\d+$/.test(section.text)) return [];
    // The number is that of an anonymous device: major 0, and minor in its lower 20 bits.
    const own = mounts?.all.filter(({ device }) => device === `0:${connection}`) ?? [];
    return [
      {
        connection: Number(connection),
        waiting: Number(section.text),
        mounts: own,
        ofPod: own.some(({ ofPod }) => ofPod),
        cite: cite(FUSE, section.line, `${section.path}: ${section.text}`),
      },
    ];
  });
}
