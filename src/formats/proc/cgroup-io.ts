/**
 * What a cgroup read and wrote, per device. v2: io.stat (kernel Documentation/admin-guide/cgroup-v2.rst).
 * v1: blkio.throttle.io_service_bytes (…/cgroup-v1/blkio-controller.rst), which knows nothing of buffered writes:
 * the kernel's flusher does those, in the root cgroup.
 */
export interface CgroupIo {
  /** `254:0`, as in diskstats. */
  readonly device: string;
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Requests; null in the v1 file of bytes. */
  readonly reads: number | null;
  readonly writes: number | null;
}

const V2 = /^(\d+:\d+) (.*)$/;
const V1 = /^(\d+:\d+) (Read|Write) (\d+)$/;

function v2Line(device: string, words: string): CgroupIo {
  const values = new Map(words.split(' ').map(word => word.split('=') as [string, string | undefined]));
  const value = (key: string) => {
    const digits = values.get(key);
    return digits !== undefined && /^\d+$/.test(digits) ? Number(digits) : null;
  };
  return {
    device,
    readBytes: value('rbytes') ?? 0,
    writtenBytes: value('wbytes') ?? 0,
    reads: value('rios'),
    writes: value('wios'),
  };
}

/** Either file; devices in the order of their first line. Empty for a cgroup that did no I/O. */
export function parseCgroupIo(text: string): readonly CgroupIo[] {
  const devices = new Map<string, CgroupIo>();
  for (const line of text.split('\n')) {
    const [, device = '', operation, bytes] = V1.exec(line) ?? [];
    if (operation !== undefined) {
      const so = devices.get(device) ?? { device, readBytes: 0, writtenBytes: 0, reads: null, writes: null };
      devices.set(device, { ...so, [operation === 'Read' ? 'readBytes' : 'writtenBytes']: Number(bytes) });
      continue;
    }
    const [, name, words] = V2.exec(line) ?? [];
    if (name !== undefined && words?.includes('=')) devices.set(name, v2Line(name, words));
  }
  return [...devices.values()];
}
