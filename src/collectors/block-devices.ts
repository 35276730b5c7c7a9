import type { Deadline, FileResult, Host } from '../host/port.ts';
import type { Capture, Collector } from './collector.ts';
import { concatenate } from './concatenate.ts';
import type { BlockDevice } from './disk-chain.ts';
import { deadlineOf, isMissing, namesIn } from './evidence-of.ts';

/** How a device is scheduled, what is in flight, what it is built from: Documentation/ABI/stable/sysfs-block. */
const FILES: readonly string[] = [
  ...['dev', 'size', 'ro', 'inflight', 'stat', 'loop/backing_file', 'dm/name', 'dm/uuid', 'dm/suspended'],
  ...['device/model', 'device/vendor', 'device/state', 'device/timeout', 'device/queue_depth', 'md/array_state'],
  ...['queue/scheduler', 'queue/nr_requests', 'queue/rotational', 'queue/max_sectors_kb', 'queue/read_ahead_kb'],
  ...['queue/wbt_lat_usec', 'queue/write_cache', 'queue/logical_block_size', 'queue/nomerges', 'queue/io_timeout'],
  ...['bdi/max_ratio', 'bdi/strict_limit'],
];

/** A node with snaps has dozens of loop devices; one with a SAN has hundreds of paths. */
const MAX_DEVICES = 256;
const NOTE = 'block-devices';

/** Settings and state of every block device that has a size. */
export const blockDevices: Collector = {
  name: 'block-devices',
  phase: 'sweep',
  deadlineMs: 4000,
  async *collect(capture) {
    const { files, leftOut } = await sysBlockOf(capture);
    const evidence = concatenate('node/block.txt', '/sys/block', files);
    const detail = `${leftOut} devices beyond the first ${MAX_DEVICES} not read`;
    yield leftOut === 0 ? evidence : { ...evidence, outcome: 'truncated', detail };
  },
};

export interface SysBlock {
  readonly files: readonly FileResult[];
  readonly devices: readonly BlockDevice[];
  readonly leftOut: number;
}

/** Read once per grab: what lies under a path is told from the same files. */
export function sysBlockOf(capture: Capture): Promise<SysBlock> {
  const known = capture.notes.get(NOTE);
  if (known instanceof Promise) return known as Promise<SysBlock>;
  const read = readSysBlock(capture.host, () => deadlineOf(capture));
  capture.notes.set(NOTE, read);
  return read;
}

/** All block devices of the node and what each is built from. */
export async function readSysBlock(host: Host, deadline: () => Deadline): Promise<SysBlock> {
  const [root] = await host.readRisky([{ path: '/sys/block', what: 'dir' }], deadline());
  const all = root === undefined ? [] : namesIn(root).map(bare);
  const names = all.slice(0, MAX_DEVICES);
  const [directories, files] = await Promise.all([
    host.readRisky(
      names.flatMap(name =>
        ['', '/slaves'].map(below => ({ path: `/sys/block/${name}${below}`, what: 'dir' }) as const),
      ),
      deadline(),
    ),
    host.readRisky(
      names.flatMap(name => FILES.map(file => ({ path: `/sys/block/${name}/${file}` }))),
      deadline(),
    ),
  ]);
  const whole = names.map((name, index) => {
    const own = files.slice(index * FILES.length, (index + 1) * FILES.length);
    return { name, own, inside: directories[2 * index], slaves: directories[2 * index + 1] };
  });
  const used = whole.filter(({ own }) => textOf(own, 'size') !== '0');
  const partitions = used.flatMap(({ name, inside }) =>
    (inside === undefined ? [] : namesIn(inside))
      .map(bare)
      .flatMap(part => (part.startsWith(name) ? [{ name, part }] : [])),
  );
  const partitionFiles = await host.readRisky(
    partitions.map(({ name, part }) => ({ path: `/sys/block/${name}/${part}/dev` })),
    deadline(),
  );
  return {
    files: [...used.flatMap(({ own }) => own), ...partitionFiles],
    leftOut: all.length - names.length,
    devices: [
      ...used.map(({ name, own, slaves }) => ({
        name,
        device: textOf(own, 'dev') ?? '',
        slaves: slaves === undefined ? [] : namesIn(slaves).map(bare),
        partOf: null,
        backingFile: textOf(own, 'loop/backing_file'),
        mapperName: textOf(own, 'dm/name'),
      })),
      ...partitions.map(({ name, part }, index) => ({
        name: part,
        device: partitionFiles[index]?.body.toString('utf8').trim() ?? '',
        ...{ slaves: [], partOf: name, backingFile: null, mapperName: null },
      })),
    ],
  };
}

function textOf(own: readonly FileResult[], file: string): string | null {
  const found = own[FILES.indexOf(file)];
  return found === undefined || isMissing(found) || found.body.length === 0
    ? null
    : found.body.toString('utf8').trimEnd();
}

function bare(name: string): string {
  return name.endsWith('/') ? name.slice(0, -1) : name;
}
