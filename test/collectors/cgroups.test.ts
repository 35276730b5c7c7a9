import { describe, expect, it } from 'vitest';
import { cgroups } from '../../src/collectors/cgroups.ts';
import { broughtBy, CONTAINER_ID, captureOn, POD, textOf } from './capture-on.ts';
import { UNIFIED, V1 } from './cgroup-mounts.ts';
import { type Content, PaperHost } from './paper-host.ts';

const UID = '48928a4e-351c-4326-9332-0d8a02b0f34a';
const OTHER = '11111111-2222-3333-4444-555555555555';
const NODE = 'node/cgroups.txt';
const OWN = `containers/${CONTAINER_ID}/cgroup.txt`;

/** A v2 node with the systemd driver. */
function systemdNode(): PaperHost {
  const burstable = '/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice';
  const pod = (uid: string) => `${burstable}/kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`;
  const files: Record<string, Content> = {
    '/proc/self/mountinfo': UNIFIED,
    '/proc/2503/cgroup': `0::${pod(UID).slice('/sys/fs/cgroup'.length)}/cri-containerd-${CONTAINER_ID}.scope\n`,
    '/sys/fs/cgroup/io.max': '254:0 rbytes=1\n',
    '/sys/fs/cgroup/system.slice/containerd.service/io.max': '254:0 wbytes=9\n',
    '/sys/fs/cgroup/system.slice/cron.service/io.max': '254:0 wbytes=8\n',
    [`${pod(UID)}/io.max`]: '254:0 wbytes=2\n',
    [`${pod(UID)}/cri-containerd-${CONTAINER_ID}.scope/io.max`]: '254:0 wbytes=3\n',
    [`${pod(UID)}/cri-containerd-${CONTAINER_ID}.scope/cgroup.freeze`]: '0\n',
    [`${pod(OTHER)}/io.max`]: '254:0 wbytes=4\n',
    [`${pod(OTHER)}/cri-containerd-${'c'.repeat(64)}.scope/io.max`]: '254:0 wbytes=5\n',
  };
  return new PaperHost(files);
}

describe('cgroups', () => {
  it('of every pod are there on v2 with the systemd driver, with the services that write, and the root', async () => {
    const brought = await broughtBy(cgroups, captureOn(systemdNode().host, { sandbox: POD }));
    const text = textOf(brought, NODE);
    for (const value of ['rbytes=1', 'wbytes=9', 'wbytes=2', 'wbytes=4']) expect(text).toContain(value);
    expect(text).not.toContain('wbytes=8');
    expect(brought.get(NODE)).toMatchObject({ outcome: 'ok' });
  });

  it('of the target are entries of their own, and are not entered for other pods', async () => {
    const paper = systemdNode();
    const brought = await broughtBy(cgroups, captureOn(paper.host, { sandbox: POD }));
    expect(textOf(brought, OWN)).toMatch(/cgroup\.freeze <==\n0\n[\s\S]*wbytes=3\n/);
    expect(textOf(brought, NODE)).not.toContain('wbytes=3');
    expect(paper.asked.filter(({ path }) => path.includes('c'.repeat(64)))).toEqual([]);
  });

  it('are found by the name of the container when its init is gone', async () => {
    const paper = systemdNode().put('/proc/2503/cgroup', { outcome: 'gone' });
    const brought = await broughtBy(cgroups, captureOn(paper.host, { sandbox: POD }));
    expect(textOf(brought, OWN)).toContain('wbytes=3');
  });

  it('are absent, and nothing is lacking, when runc has removed them', async () => {
    const paper = new PaperHost({ '/proc/self/mountinfo': UNIFIED, '/proc/2503/cgroup': '0::/kubepods/podx/c\n' });
    const brought = await broughtBy(cgroups, captureOn(paper.host, { sandbox: POD }));
    expect(brought.get(OWN)).toMatchObject({ outcome: 'absent', detail: 'the cgroup was removed' });
  });

  it.each([
    ['the cgroupfs driver', '/kubepods/besteffort'],
    ['a cgroup root of its own', '/nodes/kubepods/besteffort'],
    ['kind', '/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice'],
  ])('of pods are found below %s on v1', async (_, parent) => {
    const memory = `/sys/fs/cgroup/memory${parent}/pod${UID}`;
    const paper = new PaperHost({
      '/proc/self/mountinfo': V1,
      [`${memory}/memory.usage_in_bytes`]: '4096\n',
      [`/sys/fs/cgroup/blkio${parent}/pod${UID}/blkio.throttle.write_bps_device`]: '254:0 77\n',
    });
    const text = textOf(await broughtBy(cgroups, captureOn(paper.host)), NODE);
    expect(text).toContain(`==> ${memory}/memory.usage_in_bytes <==\n4096\n`);
    expect(text).toContain('254:0 77');
  });

  it.each(['/docker', '/default', '/system.slice'])(
    'of containers outside of pods are found below %s',
    async parent => {
      const id = 'd'.repeat(64);
      const name = parent === '/system.slice' ? `docker-${id}.scope` : id;
      const paper = new PaperHost({
        '/proc/self/mountinfo': V1,
        [`/sys/fs/cgroup/memory${parent}/${name}/memory.usage_in_bytes`]: '4096\n',
      });
      expect(textOf(await broughtBy(cgroups, captureOn(paper.host)), NODE)).toContain(
        `${parent}/${name}/memory.usage_in_bytes`,
      );
    },
  );

  it('beyond a number are left out, and the entry says so', async () => {
    const uid = (index: number) => `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;
    const files = Object.fromEntries(
      Array.from({ length: 450 }, (_, index) => [
        `/sys/fs/cgroup/kubepods/pod${uid(index)}/io.max`,
        `254:0 wbytes=${index}\n`,
      ]),
    );
    const paper = new PaperHost({ '/proc/self/mountinfo': UNIFIED, ...files });
    const evidence = (await broughtBy(cgroups, captureOn(paper.host))).get(NODE);
    // The root and kubepods itself are among the 400.
    expect(evidence).toMatchObject({ outcome: 'truncated', detail: '400 of 452 cgroups read' });
    expect(evidence?.body.toString().match(/io\.max <==/g)).toHaveLength(398);
  });

  it('are lacking when a file of one does not answer', async () => {
    const paper = systemdNode().put('/sys/fs/cgroup/io.max', { outcome: 'timeout', detail: 'no answer' });
    const evidence = (await broughtBy(cgroups, captureOn(paper.host, { sandbox: POD }))).get(NODE);
    expect(evidence).toMatchObject({ outcome: 'truncated' });
    expect(evidence?.detail).toContain('/sys/fs/cgroup/io.max: timeout');
  });
});
