import { describe, expect, it } from 'vitest';
import { parseCgroups, v1Path, v2Path } from '../../../src/formats/proc/cgroup.ts';
import { parseCgroupIo } from '../../../src/formats/proc/cgroup-io.ts';
import { fixture } from '../fixture.ts';

describe('cgroup', () => {
  it('reads a hybrid hierarchy', () => {
    const cgroups = parseCgroups(fixture('proc/shim-1.6.20/cgroup'));
    expect(cgroups.mode).toBe('hybrid');
    expect(cgroups.memberships).toHaveLength(9);
    expect([
      v1Path(cgroups, 'freezer'),
      v1Path(cgroups, 'name=systemd'),
      v1Path(cgroups, 'memory'),
      v2Path(cgroups),
    ]).toEqual(['/', '/', null, '/']);
  });

  it('reads v2 and v1, joined controllers, colons in a path, and a cgroup that is gone', () => {
    const v2 = parseCgroups('0::/kubepods.slice/cri-containerd:a:b.scope (deleted)\n');
    expect(v2.mode).toBe('v2');
    expect(v2.memberships).toEqual([
      { hierarchy: 0, controllers: [], path: '/kubepods.slice/cri-containerd:a:b.scope', deleted: true },
    ]);
    const v1 = parseCgroups('4:cpu,cpuacct:/kubepods/pod1\n3:freezer:/a (deleted)\n');
    expect([v1.mode, v1Path(v1, 'cpuacct'), v1Path(v1, 'freezer'), v2Path(v1)]).toEqual([
      'v1',
      '/kubepods/pod1',
      '/a (deleted)',
      null,
    ]);
    expect(parseCgroups('x').mode).toBeNull();
  });

  it('reads the I/O of a cgroup in both versions', () => {
    expect(parseCgroupIo('254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n7:0 \n')).toEqual([
      { device: '254:0', readBytes: 4096, writtenBytes: 8192, reads: 1, writes: 2 },
    ]);
    expect(parseCgroupIo('254:0 Read 12288\n254:0 Write 4096\n254:0 Sync 0\n254:0 Total 16384\nTotal 16384\n')).toEqual(
      [{ device: '254:0', readBytes: 12288, writtenBytes: 4096, reads: null, writes: null }],
    );
    expect(parseCgroupIo('Total 0\n')).toEqual([]);
  });
});
