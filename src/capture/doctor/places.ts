import { mountOf, wholeDisksOf } from '../../collectors/disk-chain.ts';
import { readDisks } from '../../collectors/read-disks.ts';
import { formatSize } from '../../formats/duration.ts';
import type { Host } from '../../host/port.ts';
import { MEMORY_MOUNTS, memoryRoom } from '../memory-room.ts';
import { type Check, lacks, ok, warn } from './check.ts';

const READ_MS = 2000;
/** A bundle of a node with long logs; most have less than a tenth of it. */
const ENOUGH_BYTES = 32 << 20;

const BINARY = '/proc/self/exe';

/** Where this executable and containerd's roots lie, and whether there is room for a bundle in memory. */
export async function places(host: Host, roots: readonly string[]): Promise<readonly Check[]> {
  const deadline = () => ({ deadlineMs: READ_MS, itemMs: 700 });
  const [links, answers, disks, room] = await Promise.all([
    host.readRisky([{ path: BINARY, what: 'link' }], deadline()),
    host.readRisky(
      roots.map(path => ({ path, what: 'stat' }) as const),
      deadline(),
    ),
    readDisks(host, deadline),
    memoryRoom(host),
  ]);
  const binary = links[0]?.outcome === 'ok' ? links[0].body.toString('utf8').replace(/ \(deleted\)$/, '') : null;
  const checks: Check[] = roots.map((root, index) => {
    const outcome = answers[index]?.outcome ?? 'timeout';
    return outcome === 'ok' ? ok('root', `${root} answers`) : lacks('root', `${root}: ${outcome}`);
  });
  if (disks === null || binary === null)
    return [...checks, lacks('disks', 'The mounts of this node could not be read.')];
  const own = wholeDisksOf(binary, disks);
  const shared = roots.filter(root => [...wholeDisksOf(root, disks)].some(disk => own.has(disk)));
  checks.push(
    shared.length === 0
      ? ok('binary', `${binary} lies on no disk of a container runtime`)
      : warn(
          'binary',
          `${binary} lies on the disk under ${shared.join(', ')}: when that hangs, a start that is not cached hangs as well.`,
          'Put a copy into memory: a tmpfs without noexec, as the README shows.',
        ),
  );
  for (const place of MEMORY_MOUNTS) {
    const free = room.get(place)?.free;
    const type = mountOf(place, disks.mounts)?.type ?? 'unknown';
    const name = `room-${place.slice(1).replace('/', '-')}`;
    const words = free === undefined ? 'room unknown' : `${formatSize(free)} free`;
    const enough = type === 'tmpfs' && (free === undefined || free >= ENOUGH_BYTES);
    checks.push((enough ? ok : warn)(name, `${place} is ${type}, ${words}`));
  }
  return checks;
}
