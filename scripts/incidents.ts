/**
 * Makes examples/incidents again: each a stall of the lab, a grab of it, and its reports. Takes root, and some two minutes.
 * Usage: node scripts/incidents.ts [NAME…]
 */
import { spawnSync } from 'node:child_process';
import { ROOT } from './build/paths.ts';

/**
 * A node of its own around the lab: hostname, processes, mounts and cgroups of the machine that it is made on are nobody's business. What
 * the lab makes lies in memory and goes with it; other labs of the machine take it for one whose owner has died, since they do not see
 * its processes, and would clear it away.
 */
const NODE = `set -e
hostname node-7
while read -r _ _ _ _ point _; do
  case $point in /|/proc|/sys|/sys/*|/dev|/dev/*) ;; *) umount -l "$point" ;; esac
done </proc/self/mountinfo
hierarchies=$(sed -n 's|^[^-]* \\(/sys/fs/cgroup[^ ]*\\) .* - \\(cgroup2*\\) [^ ]* rw,*\\(.*\\)$|\\1 \\2 \\3|p' /proc/self/mountinfo)
umount -R -l /sys/fs/cgroup
echo "$hierarchies" | grep -q '^/sys/fs/cgroup ' || mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
echo "$hierarchies" | while read -r point type options; do
  mkdir -p "$point"
  mount -t "$type" \${options:+-o "$options"} "$type" "$point"
done
mount -t tmpfs -o mode=1777 tmpfs /var/tmp
export TMPDIR=/var/tmp
exec "$@"`;

/** Into a cgroup of its own in each hierarchy, which is the root of all that is seen inside; it goes at the end. */
const ENTER = `set -e
for own in $(sed -n 's|^[^-]* \\(/sys/fs/cgroup[^ ]*\\) .* - cgroup2* .*|\\1|p' /proc/self/mountinfo); do
  mkdir -p "$own/stallcap-incidents"
  if [ -e "$own/stallcap-incidents/cpuset.cpus" ]; then
    for file in cpuset.cpus cpuset.mems; do cat "$own/$file" >"$own/stallcap-incidents/$file"; done
  fi
  echo $$ >"$own/stallcap-incidents/cgroup.procs"
done
exec unshare --uts --cgroup --mount --propagation private --pid --fork --mount-proc sh -c '${NODE.replaceAll("'", `'\\''`)}' "$@"`;

const inside = ['node', 'scripts/incidents/make.ts', ...process.argv.slice(2)];
const { status } = spawnSync('sh', ['-c', ENTER, 'sh', 'sh', ...inside], { cwd: ROOT, stdio: 'inherit' });
const LEAVE = 'find /sys/fs/cgroup -depth -type d -path "*/stallcap-incidents*" -exec rmdir {} + 2>/dev/null';
spawnSync('sh', ['-c', LEAVE]);
process.exitCode = status ?? 1;
