import { mountOf, wholeDisksOf } from '../../collectors/disk-chain.ts';
import { readDisks } from '../../collectors/read-disks.ts';
import { formatSize } from '../../formats/duration.ts';
import type { Host } from '../../host/port.ts';
import { type Check, lacks, ok, warn } from './check.ts';

const READ_MS = 2000;
/** A bundle of a node with long logs; most have less than a tenth of it. */
const ENOUGH_BYTES = 32 << 20;

const BINARY = '/proc/self/exe';

/** Where this executable and containerd's roots lie, and whether there is room for a bundle in memory. */
export async function places(host: Host, roots: readonly string[]): Promise<readonly Check[]> {
  const deadline = () => ({ deadlineMs: READ_MS, itemMs: 700 });
  const [links, answers, disks, memory] = await Promise.all([
    host.readRisky([{ path: BINARY, what: 'link' }], deadline()),
    host.readRisky(
      roots.map(path => ({ path, what: 'stat' }) as const),
      deadline(),
    ),
    readDisks(host, deadline),
    host.run({ argv: ['df', '-P', '-k', '/run', '/dev/shm'], timeoutMs: READ_MS }),
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
  const sizes = roomIn(memory.stdout.toString('utf8'));
  for (const place of ['/run', '/dev/shm']) {
    const free = sizes.get(place);
    const type = mountOf(place, disks.mounts)?.type ?? 'unknown';
    const name = `room-${place.slice(1).replace('/', '-')}`;
    const room = free === undefined ? 'room unknown' : `${formatSize(free)} free`;
    const enough = type === 'tmpfs' && (free === undefined || free >= ENOUGH_BYTES);
    checks.push((enough ? ok : warn)(name, `${place} is ${type}, ${room}`));
  }
  return checks;
}

/** df -P -k: `Filesystem 1024-blocks Used Available Capacity Mounted on`, asked for two paths, answered in their order. */
function roomIn(text: string): ReadonlyMap<string, number> {
  const rows = text.trim().split('\n').slice(1);
  return new Map(
    ['/run', '/dev/shm'].flatMap((place, index) => {
      const kilobytes = Number(rows[index]?.split(/\s+/)[3] ?? Number.NaN);
      return Number.isFinite(kilobytes) ? [[place, kilobytes * 1024] as const] : [];
    }),
  );
}
