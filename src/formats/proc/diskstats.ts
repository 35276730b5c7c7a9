/**
 * /proc/diskstats: kernel Documentation/admin-guide/iostats.rst. 11 counters before 4.18, 15 since (discards), 17 since
 * 5.5 (flushes). Counters only grow, but for `inFlight`, and may wrap on 32-bit kernels.
 */
export interface DiskStats {
  readonly major: number;
  readonly minor: number;
  readonly name: string;
  readonly reads: number;
  readonly readsMerged: number;
  readonly readBytes: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly writtenBytes: number;
  readonly writeMs: number;
  /** Requests at the device right now: the one value that is no counter. */
  readonly inFlight: number;
  /** ms with at least one request in flight (`io_ticks`): grows as wall time does on a device that is always busy. */
  readonly busyMs: number;
  /** ms times requests in flight: its growth per ms is the mean queue length. */
  readonly weightedMs: number;
  readonly discards: number | null;
  readonly flushes: number | null;
  readonly flushMs: number | null;
}

/** The unit of all sector counts, whatever the device's own sector is. */
const SECTOR = 512;

function parseLine(line: string): DiskStats | null {
  const words = line.trim().split(/\s+/);
  const [major, minor, name, ...rest] = words;
  const counts = rest.map(Number);
  if (name === undefined || counts.length < 11 || ![major, minor, ...rest].every(word => /^\d+$/.test(word ?? ''))) {
    return null;
  }
  const at = (index: number) => counts[index] ?? 0;
  return {
    major: Number(major),
    minor: Number(minor),
    name,
    reads: at(0),
    readsMerged: at(1),
    readBytes: at(2) * SECTOR,
    readMs: at(3),
    writes: at(4),
    writesMerged: at(5),
    writtenBytes: at(6) * SECTOR,
    writeMs: at(7),
    inFlight: at(8),
    busyMs: at(9),
    weightedMs: at(10),
    discards: counts[11] ?? null,
    flushes: counts[15] ?? null,
    flushMs: counts[16] ?? null,
  };
}

/** One entry per device and partition, in the kernel's order. Lines that are none are left out. */
export function parseDiskstats(text: string): readonly DiskStats[] {
  return text
    .split('\n')
    .map(parseLine)
    .filter(disk => disk !== null);
}
