import { describe, expect, it } from 'vitest';
import { filesOf, hierarchiesIn, type Part, placeIn } from '../../src/collectors/cgroup-files.ts';
import { parseCgroups } from '../../src/formats/proc/cgroup.ts';
import { parseMountinfo } from '../../src/formats/proc/mountinfo.ts';
import { HYBRID, UNIFIED, V1 } from './cgroup-mounts.ts';

const ALL = ['counters', 'state', 'limits'] as const;
const pathsOf = (mountinfo: string, path: string, parts: readonly Part[] = ALL) =>
  hierarchiesIn(parseMountinfo(mountinfo)).flatMap(hierarchy => filesOf(hierarchy, path, parts).map(file => file.path));

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

  it('on a hybrid node are those of v1, and of v2 what needs no controller', () => {
    const paths = pathsOf(HYBRID, '/k8s.io/x');
    expect(paths).toContain('/sys/fs/cgroup/memory/k8s.io/x/memory.stat');
    expect(paths).toContain('/sys/fs/cgroup/unified/k8s.io/x/io.pressure');
    expect(paths).not.toContain('/sys/fs/cgroup/unified/k8s.io/x/memory.stat');
  });

  it('of the root cgroup stand in the mount point itself', () => {
    expect(pathsOf(UNIFIED, '/')).toContain('/sys/fs/cgroup/io.stat');
  });

  it('fall into what is sampled of all, what is sampled of the target, and limits, each in one of them', () => {
    for (const mounts of [V1, HYBRID, UNIFIED]) {
      const parts = ALL.map(part => pathsOf(mounts, '/a', [part]));
      expect(new Set(parts.flat()).size).toBe(parts.flat().length);
      expect(parts.flat().toSorted()).toEqual(pathsOf(mounts, '/a').toSorted());
    }
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
