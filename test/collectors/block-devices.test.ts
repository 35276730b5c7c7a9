import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { blockDevices, sysBlockOf } from '../../src/collectors/block-devices.ts';
import { disksBelow } from '../../src/collectors/disks-below.ts';
import { createHost } from '../../src/host/linux.ts';
import { broughtBy, CONTAINER_ID, captureOn, POD, ROOT, TASKS, textOf } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

/** A disk with a partition, a loop device, and one that nothing is attached to. */
const files = {
  '/sys/block/vda/dev': '254:0\n',
  '/sys/block/vda/size': '536870912\n',
  '/sys/block/vda/inflight': '       0       12\n',
  '/sys/block/vda/queue/scheduler': '[none] mq-deadline\n',
  '/sys/block/vda/vda1/dev': '254:1\n',
  '/sys/block/vda/vda1/partition': '1\n',
  '/sys/block/loop0/dev': '7:0\n',
  '/sys/block/loop0/size': '2048\n',
  '/sys/block/loop0/loop/backing_file': '/slow/disk.img\n',
  '/sys/block/loop1/dev': '7:1\n',
  '/sys/block/loop1/size': '0\n',
} as const;

/** Devices of this machine that something is attached to. */
const inUse = (): string[] =>
  readdirSync('/sys/block').filter(name => {
    try {
      return readFileSync(`/sys/block/${name}/size`, 'utf8') !== '0\n';
    } catch {
      return false;
    }
  });

describe('block devices', () => {
  it('of this machine are there with their queue settings', async () => {
    const host = createHost();
    try {
      const before = inUse();
      const text = textOf(await broughtBy(blockDevices, captureOn(host)), 'node/block.txt');
      // Loop devices of others come and go.
      for (const name of inUse().filter(each => before.includes(each)))
        expect(text).toContain(`==> /sys/block/${name}/queue/read_ahead_kb <==\n`);
    } finally {
      await host.close();
    }
  });

  it('that nothing is attached to are left out', async () => {
    const text = textOf(await broughtBy(blockDevices, captureOn(new PaperHost(files).host)), 'node/block.txt');
    expect(text).toContain('==> /sys/block/vda/inflight <==\n       0       12\n');
    expect(text).toContain('==> /sys/block/loop0/loop/backing_file <==\n/slow/disk.img\n');
    expect(text).not.toContain('loop1');
  });

  it('are known with their partitions and what they are built from', async () => {
    const paper = new PaperHost({ ...files, '/sys/block/dm-0/dev': '253:0\n', '/sys/block/dm-0/size': '9\n' })
      .put('/sys/block/dm-0/slaves/vda1', { link: '../../vda/vda1' })
      .put('/sys/block/dm-0/dm/name', 'vg-root\n');
    const { devices } = await sysBlockOf(captureOn(paper.host));
    expect(devices.map(({ name, partOf, slaves, mapperName }) => [name, partOf, slaves, mapperName])).toEqual([
      ['dm-0', null, ['vda1'], 'vg-root'],
      ['loop0', null, [], null],
      ['vda', null, [], null],
      ['vda1', 'vda', [], null],
    ]);
  });

  it('are read once for all who ask', async () => {
    const paper = new PaperHost(files);
    const capture = captureOn(paper.host);
    await Promise.all([broughtBy(blockDevices, capture), broughtBy(disksBelow, capture)]);
    expect(paper.asked.filter(({ path }) => path === '/sys/block/vda/size')).toHaveLength(1);
  });
});

describe('the disks below', () => {
  const upper = `${ROOT}/io.containerd.snapshotter.v1.overlayfs/snapshots/9/fs`;
  const overlay = (at: string, dir: string) =>
    `60 1 0:60 / ${at} rw - overlay overlay rw,lowerdir=/l,upperdir=${dir},workdir=/w\n`;
  const mountinfo = `1 0 254:1 / / rw - ext4 /dev/vda1 rw\n2 1 7:0 / ${ROOT} rw - ext4 /dev/loop0 rw\n`;

  it("are named for containerd's root and for each writable layer of the target", async () => {
    const paper = new PaperHost(files).put(
      '/proc/2623/mountinfo',
      mountinfo + overlay(`${TASKS}/${CONTAINER_ID}/rootfs`, upper),
    );
    const text = textOf(await broughtBy(disksBelow, captureOn(paper.host, { sandbox: POD })), 'node/disks.txt');
    expect(text).toMatch(new RegExp(`^containerd's root ${ROOT}\n  mount: 2 1 7:0 .*\n  device 7:0 is loop0\n`));
    expect(text).toContain(`writable layer of ${CONTAINER_ID} (app): ${upper}\n  mount: 2 1 7:0 `);
    expect(text).toContain('    loop0 is the file /slow/disk.img\n      mount: 1 0 254:1 / / rw - ext4 /dev/vda1 rw\n');
    expect(text).toContain('device 254:1 is vda1, a partition of vda');
  });

  it('of a layer that is being unmounted are told by those of its neighbours', async () => {
    const paper = new PaperHost(files).put('/proc/2623/mountinfo', mountinfo + overlay('/elsewhere/rootfs', upper));
    const text = textOf(await broughtBy(disksBelow, captureOn(paper.host, { sandbox: POD })), 'node/disks.txt');
    expect(text).toContain(`writable layer of ${CONTAINER_ID} (app)\n  no overlay with an upperdir in mountinfo`);
    expect(text).toContain(`1 writable layer of the node, ${upper} among them\n  mount: 2 1 7:0`);
  });

  it("of docker's containers are told by their inits, whose root is the overlay", async () => {
    const paper = new PaperHost(files)
      .put('/proc/1/mountinfo', mountinfo)
      .put('/proc/2503/mountinfo', overlay('/', '/var/lib/docker/overlay2/x/diff'));
    const sandbox = { ...POD, runtime: 'docker' as const };
    const text = textOf(await broughtBy(disksBelow, captureOn(paper.host, { sandbox })), 'node/disks.txt');
    expect(text).toContain(
      `writable layer of ${CONTAINER_ID} (app): /var/lib/docker/overlay2/x/diff\n  mount: 1 0 254:1`,
    );
  });

  it('are looked up where the daemon has a mount namespace of its own', async () => {
    const prefix = '/proc/812/root';
    const shim = {
      ...(POD.shims[0] as (typeof POD.shims)[number]),
      root: prefix + ROOT,
      state: `${prefix}/run/containerd`,
    };
    const paper = new PaperHost(files).put('/proc/2623/mountinfo', mountinfo);
    const brought = await broughtBy(disksBelow, captureOn(paper.host, { sandbox: { ...POD, shims: [shim] } }));
    expect(textOf(brought, 'node/disks.txt')).toContain(`root ${prefix}${ROOT}\n  mount: 2 1 7:0 / ${ROOT}`);
  });

  it('cannot be named without a mount table', async () => {
    const paper = new PaperHost({ '/proc/1/mountinfo': { outcome: 'timeout' } });
    const evidence = (await broughtBy(disksBelow, captureOn(paper.host))).get('node/disks.txt');
    expect(evidence).toMatchObject({ outcome: 'timeout', detail: 'without mountinfo nothing can be told' });
  });
});
