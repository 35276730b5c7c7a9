/** Mounts of a systemd node with the unified hierarchy: mountinfo of Debian 12. */
export const UNIFIED =
  '35 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n';

const v1 = (id: number, name: string, options = name) =>
  `${id} 30 0:${id} / /sys/fs/cgroup/${name} rw,relatime shared:9 - cgroup cgroup rw,${options}\n`;

/** Of a node with v1 alone, controllers mounted together as systemd does. */
export const V1 = [
  '30 24 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n',
  v1(31, 'systemd', 'xattr,name=systemd'),
  v1(32, 'memory'),
  v1(33, 'cpu,cpuacct'),
  v1(34, 'blkio'),
  v1(36, 'freezer'),
  v1(37, 'pids'),
  v1(38, 'devices'),
].join('');

export const HYBRID = `${V1}39 30 0:39 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n`;
