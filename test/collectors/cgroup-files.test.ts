import { describe, expect, it } from 'vitest';
import { filesOf, hierarchiesIn, placeIn } from '../../src/collectors/cgroup-files.ts';
import { parseCgroups } from '../../src/formats/proc/cgroup.ts';
import { parseMountinfo } from '../../src/formats/proc/mountinfo.ts';
import { HYBRID, UNIFIED, V1 } from './cgroup-mounts.ts';

const pathsOf = (mountinfo: string, path: string, depth: 'rates' | 'all' = 'all') =>
  hierarchiesIn(parseMountinfo(mountinfo)).flatMap(hierarchy => filesOf(hierarchy, path, depth).map(file => file.path));

describe('the files of a cgroup', () => {
  it('on v2 are all in the one directory', () => {
    const paths = pathsOf(UNIFIED, '/kubepods.slice/pod1.slice');
    expect(paths).toContain('/sys/fs/cgroup/kubepods.slice/pod1.slice/io.stat');
    expect(paths).toContain('/sys/fs/cgroup/kubepods.slice/pod1.slice/cgroup.freeze');
    expect(paths).toContain('/sys/fs/cgroup/kubepods.slice/pod1.slice/pids.events');
    expect(paths.every(path => path.startsWith('/sys/fs/cgroup/kubepods.slice/pod1.slice/'))).toBe(true);
  });

  it('on v1 are spread over the hierarchies, those of two controllers mounted as one among them', () => {
    const paths = pathsOf(V1, '/kubepods/pod1');
    expect(paths).toContain('/sys/fs/cgroup/blkio/kubepods/pod1/blkio.throttle.io_service_bytes_recursive');
    expect(paths).toContain('/sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/cpu.stat');
    expect(paths).toContain('/sys/fs/cgroup/cpu,cpuacct/kubepods/pod1/cpuacct.usage');
    expect(paths).toContain('/sys/fs/cgroup/freezer/kubepods/pod1/freezer.state');
    expect(paths.some(path => path.includes('/devices/') || path.includes('/systemd/'))).toBe(false);
  });

  it('on a hybrid node are those of v1, and pressure and freezer of v2', () => {
    const paths = pathsOf(HYBRID, '/k8s.io/x');
    expect(paths).toContain('/sys/fs/cgroup/memory/k8s.io/x/memory.stat');
    expect(paths).toContain('/sys/fs/cgroup/unified/k8s.io/x/io.pressure');
  });

  it('of the root cgroup stand in the mount point itself', () => {
    expect(pathsOf(UNIFIED, '/')).toContain('/sys/fs/cgroup/io.stat');
  });

  it('that are sampled are some of all', () => {
    const all = new Set(pathsOf(V1, '/a'));
    const rates = pathsOf(V1, '/a', 'rates');
    expect(rates.length).toBeLessThan(all.size);
    expect(rates.filter(path => !all.has(path))).toEqual([]);
    expect(new Set(pathsOf(V1, '/a')).size).toBe(pathsOf(V1, '/a').length);
  });

  it('are read once where a hierarchy is mounted twice', () => {
    const twice = `${UNIFIED}99 1 0:26 / /mnt/cgroup rw - cgroup2 cgroup2 rw\n`;
    expect(pathsOf(twice, '/a')).toEqual(pathsOf(UNIFIED, '/a'));
  });
});

describe('the place of a process', () => {
  const [memory] = hierarchiesIn(parseMountinfo(V1)).filter(({ controllers }) => controllers.includes('memory'));
  const [unified] = hierarchiesIn(parseMountinfo(UNIFIED));
  const placed = (hierarchy: typeof memory, text: string) =>
    hierarchy === undefined ? undefined : placeIn(hierarchy, parseCgroups(text));

  it('is told by the line of its hierarchy', () => {
    expect(placed(memory, '5:memory:/kubepods/pod1/c\n0::/other\n')).toBe('/kubepods/pod1/c');
    expect(placed(unified, '5:memory:/kubepods/pod1/c\n0::/other\n')).toBe('/other');
  });

  it('is none in the root, outside of our namespace, and where no line names it', () => {
    expect(placed(unified, '0::/\n')).toBeNull();
    expect(placed(unified, '0::/../../elsewhere\n')).toBeNull();
    expect(placed(memory, '0::/only\n')).toBeNull();
  });
});
