import { describe, expect, it } from 'vitest';
import { CONTAINER_ID } from '../facts-of.ts';
import { factsOfBundle } from '../fixture-bundle.ts';
import { factsOfMade, POD_UID } from '../made-bundle.ts';

interface Counters {
  readonly name?: string;
  readonly reads?: number;
  readonly writes?: number;
  readonly sectors?: number;
  readonly writeMs?: number;
  readonly inFlight?: number;
  readonly busyMs?: number;
}

const row = ({
  name = 'nvme1n1',
  reads = 0,
  writes = 0,
  sectors = 0,
  writeMs = 0,
  inFlight = 0,
  busyMs = 0,
}: Counters) =>
  ` 259       1 ${name} ${reads} 0 0 0 ${writes} 0 ${sectors} ${writeMs} ${inFlight} ${busyMs} 0 0 0 0 0 0 0`;

interface Round {
  readonly disks?: readonly Counters[];
  readonly io?: string;
  readonly dirtyKiB?: number;
  readonly cgroups?: Readonly<Record<string, string>>;
  /** Of the one disk. */
  readonly bdiKiB?: number;
}

/** One round per second. */
function sampled(rounds: readonly Round[], entries: Readonly<Record<string, string>> = {}) {
  const lines = rounds.map(({ disks = [], io, dirtyKiB, bdiKiB, cgroups = {} }, index) => {
    const files = {
      '/proc/diskstats': disks.map(row).join('\n'),
      ...(io === undefined ? {} : { '/proc/pressure/io': io }),
      ...(dirtyKiB === undefined
        ? {}
        : { '/proc/meminfo': `MemTotal: 99 kB\nDirty: ${dirtyKiB} kB\nWriteback: 0 kB\n` }),
      ...(bdiKiB === undefined
        ? {}
        : { '/sys/kernel/debug/bdi/259:1/stats': `BdiWriteback: 1024 kB\nBdiReclaimable: ${bdiKiB} kB\n` }),
      ...cgroups,
    };
    return JSON.stringify({
      sample: index + 1,
      time: '',
      offsetMs: 1000 + index * 1000,
      durationMs: 2,
      files,
      notRead: {},
    });
  });
  return factsOfMade({ entries: { 'node/samples.jsonl': lines.join('\n'), ...entries } });
}

const DISKS = `containerd's root /var/lib/containerd
  mount: 41 1 259:1 / /var/lib/containerd rw,relatime - ext4 /dev/nvme1n1 rw
  device 259:1 is nvme1n1

writable layer of ${CONTAINER_ID} (app)
  no overlay with an upperdir in mountinfo: read-only, not an overlay, or unmounted

3 writable layers of the node, /data/docker/overlay2/9/diff among them
  mount: 27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
  device 8:1 is sda1, a partition of sda
`;

describe('a device over the samples', () => {
  it('at its cap: always busy, always in flight, completions go on, and all rates', () => {
    const rounds = [0, 1, 2].map(n => ({
      disks: [{ writes: 100 + n * 50, sectors: 8192 * n, writeMs: 1000 * n * 50, inFlight: 12, busyMs: 1000 * n }],
    }));
    const [device] = sampled(rounds, { 'node/disks.txt': DISKS }).devices?.all ?? [];
    expect(device).toMatchObject({
      name: 'nvme1n1',
      number: '259:1',
      roles: ["containerd's root"],
      alwaysInFlight: true,
    });
    expect(device?.rates).toMatchObject({
      seconds: 2,
      writesPerSecond: 50,
      writtenBytesPerSecond: 4096 * 1024,
      utilPercent: 100,
    });
    expect(device?.rates).toMatchObject({ writeAwaitMs: 1000, readAwaitMs: null, completed: 100 });
    expect(device?.intervals).toHaveLength(2);
    expect(device?.samples[2]?.cite).toMatchObject({ entry: 'node/samples.jsonl', line: 3 });
  });

  it('that does nothing and lies below nothing is left out', () => {
    expect(sampled([{ disks: [{ name: 'loop7' }] }]).devices?.all).toEqual([]);
  });

  it('has no rates when it was sampled once, and none from a counter that fell', () => {
    expect(sampled([{ disks: [{ writes: 5 }] }]).devices?.all[0]?.rates).toBeNull();
    expect(
      sampled([{ disks: [{ writes: 50 }] }, { disks: [{ writes: 5 }] }]).devices?.all[0]?.rates?.writesPerSecond,
    ).toBe(0);
  });

  it('is told by one reading of diskstats where there are no samples', () => {
    const facts = factsOfMade({ entries: { 'node/diskstats': `${row({ writes: 3, inFlight: 2 })}\n` } });
    expect(facts.devices).toMatchObject({
      samples: 0,
      all: [{ name: 'nvme1n1', samples: [{ inFlight: 2 }], rates: null }],
    });
  });

  it('of a real slow disk is the loop device below the root of containerd', () => {
    const device = factsOfBundle('overlay-umount-sync').devices?.all.find(({ roles }) =>
      roles.includes("containerd's root"),
    );
    expect(device).toMatchObject({ name: 'loop0', alwaysInFlight: true });
    expect(device?.rates?.utilPercent).toBeGreaterThan(95);
  });
});

describe('what lies below', () => {
  it('is read of each chapter: mount, filesystem, devices down to the hardware', () => {
    const { mounts } = factsOfMade({ entries: { 'node/disks.txt': DISKS } });
    expect(mounts?.chains).toMatchObject([
      { role: "containerd's root", path: '/var/lib/containerd', fsType: 'ext4', device: '259:1', devices: ['nvme1n1'] },
      { role: 'writable layer', container: CONTAINER_ID, devices: [] },
      { role: 'writable layer', container: null, devices: ['sda1', 'sda'], mountPoint: '/' },
    ]);
  });
});

describe('dirty pages', () => {
  it('take as long as the device below containerd needs at the rate at which it writes', () => {
    const rounds = [0, 1].map(n => ({ disks: [{ writes: n, sectors: 8192 * n }], dirtyKiB: 312 * 1024 }));
    expect(sampled(rounds, { 'node/disks.txt': DISKS }).dirty).toMatchObject({
      ...{ of: 'node', bytes: 312 * 2 ** 20, device: 'nvme1n1', writtenBytesPerSecond: 4 * 2 ** 20, drainMs: 78_000 },
    });
  });

  it('are those of that device alone, where the node told', () => {
    const disks = (n: number) => [{ writes: n, sectors: 8192 * n }];
    const rounds = [0, 1].map(n => ({ disks: disks(n), dirtyKiB: 312 * 1024, bdiKiB: 7 * 1024 }));
    expect(sampled(rounds, { 'node/disks.txt': DISKS }).dirty).toMatchObject({
      ...{ of: 'device', bytes: 8 * 2 ** 20, drainMs: 2000 },
      samples: [{}, { cite: { line: 2, text: 'BdiReclaimable: 7168 kB, BdiWriteback: 1024 kB of nvme1n1' } }],
    });
  });

  it('have no end in sight where nothing is written', () => {
    const rounds = [
      { disks: [{}], dirtyKiB: 1024 },
      { disks: [{}], dirtyKiB: 1024 },
    ];
    expect(sampled(rounds, { 'node/disks.txt': DISKS }).dirty).toMatchObject({ bytes: 2 ** 20, drainMs: null });
  });
});

describe('pressure', () => {
  it('is the share of the time in which tasks waited', () => {
    const io = (total: number) =>
      `some avg10=80.00 avg60=1.00 avg300=1.00 total=${total}\nfull avg10=40.00 avg60=2.00 avg300=1.00 total=${total / 2}\n`;
    const { pressure } = sampled([{ io: io(10_000_000) }, { io: io(11_600_000) }]);
    expect(pressure?.node.io).toMatchObject({ some: 1, full: 0.8, avg10Some: 80, avg10Full: 40, avg60Full: 2 });
    expect(pressure?.node.memory).toBeNull();
  });

  it('is told between each two samples, too', () => {
    const io = (total: number) => `some avg10=0.00 avg60=0.00 avg300=0.00 total=${total}\n`;
    const { pressure } = sampled([{ io: io(0) }, { io: io(100_000) }, { io: io(1_900_000) }]);
    const series = pressure?.node.io?.series ?? [];
    expect(series).toMatchObject([{ full: 0 }, { full: 0 }]);
    const [early = 0, late = 0] = series.map(({ some }) => some);
    expect(early).toBeGreaterThan(0);
    expect(late).toBeGreaterThan(early);
    expect(series[1]?.untilMs).toBeGreaterThan(series[0]?.untilMs ?? 0);
  });

  it('is null on a kernel without it', () => {
    expect(sampled([{ disks: [{}] }]).pressure).toBeNull();
  });
});

describe('who writes', () => {
  const pod = (uid: string) =>
    `/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`;
  const BATCH = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
  const log = `time="2026-11-29T11:40:00Z" level=info msg="RunPodSandbox for &PodSandboxMetadata{Name:batch-7,Uid:${BATCH},Namespace:shop,Attempt:0,}"\n`;
  const io = (written: number) => `259:1 rbytes=0 wbytes=${written} rios=0 wios=1 dbytes=0 dios=0\n`;

  it('is named by the pod, with its share of what was written on that disk', () => {
    const round = (n: number) => ({
      disks: [{ writes: n }],
      cgroups: {
        '/sys/fs/cgroup/kubepods.slice/io.stat': io(n * 1000),
        [`${pod(BATCH)}/io.stat`]: io(n * 930),
        [`${pod(BATCH)}/memory.stat`]: 'file 9\nfile_dirty 4096\nfile_writeback 8192\n',
        [`${pod(POD_UID)}/io.stat`]: io(n * 5),
        [`${pod(POD_UID)}/cri-containerd-${CONTAINER_ID}.scope/io.stat`]: io(n * 70),
      },
    });
    const { writers } = sampled([round(1), round(2)], { 'node/disks.txt': DISKS, 'logs/containerd.log': log });
    expect(writers).toMatchObject({
      version: 2,
      all: [
        {
          name: 'shop/batch-7',
          podUid: BATCH,
          writtenBytesPerSecond: 930,
          share: 0.93,
          dirtyBytes: 4096,
          writebackBytes: 8192,
          ofTarget: false,
        },
        { name: 'shop/web-0', container: CONTAINER_ID, writtenBytesPerSecond: 70, share: 0.07, ofTarget: true },
      ],
    });
  });

  it('has no shares on cgroup v1, which does not know who wrote what was buffered, and goes by dirty pages', () => {
    const round = (n: number) => ({
      cgroups: {
        [`/sys/fs/cgroup/blkio/kubepods/pod${BATCH}/blkio.throttle.io_service_bytes_recursive`]: `259:1 Write ${n}\nTotal ${n}\n`,
        [`/sys/fs/cgroup/memory/kubepods/pod${BATCH}/memory.stat`]:
          'dirty 1\nwriteback 2\ntotal_dirty 4096\ntotal_writeback 0\n',
        [`/sys/fs/cgroup/blkio/kubepods/pod${POD_UID}/blkio.throttle.io_service_bytes_recursive`]: 'Total 0\n',
      },
    });
    const { writers } = sampled([round(1), round(1)]);
    expect(writers?.version).toBe(1);
    expect(writers?.all[0]).toMatchObject({ podUid: BATCH, name: `pod${BATCH}`, share: null, dirtyBytes: 4096 });
  });

  it('is not told by samples without cgroups', () => {
    expect(sampled([{ disks: [{}] }]).writers).toBeNull();
  });
});

describe('FUSE', () => {
  it('has requests that wait, and the mounts of its connection', () => {
    const mount = `80 27 0:52 / /var/lib/kubelet/pods/${POD_UID}/volumes/s3 rw,relatime - fuse.s3fs s3fs rw\n`;
    const facts = factsOfMade({
      entries: { 'node/fuse.txt': '==> /sys/fs/fuse/connections/52/waiting <==\n3\n', 'node/mountinfo': mount },
    });
    expect(facts.fuse).toMatchObject([{ connection: 52, waiting: 3, ofPod: true, mounts: [{ type: 'fuse.s3fs' }] }]);
    expect(facts.fuse?.[0]?.cite).toMatchObject({ line: 2 });
  });

  it('was not captured where fusectl is not mounted', () => {
    expect(factsOfMade({ entries: {} }).fuse).toBeNull();
  });
});
