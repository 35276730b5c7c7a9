import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Programs that the lab runs, and the Debian package of each. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  '/bin/busybox': 'busybox-static',
  bindfs: 'bindfs',
  fusermount3: 'fuse3',
  strace: 'strace',
  dockerd: 'docker.io',
  docker: 'docker.io',
  'mkfs.ext4': 'e2fsprogs',
  'systemd-cat': 'systemd',
  cc: 'gcc',
  losetup: 'util-linux',
  fsfreeze: 'util-linux',
  ps: 'procps',
  python3: 'python3',
};

const isProgram = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const inPath = (program: string): boolean =>
  program.startsWith('/')
    ? isProgram(program)
    : (process.env['PATH'] ?? '').split(':').some(dir => isProgram(join(dir, program)));

/** Programs of the list that are not on this machine. */
export const missingPrograms = (programs: readonly string[] = Object.keys(PROGRAMS)): string[] =>
  programs.filter(program => !inPath(program));

/** What slow and frozen disks need, besides what pods need. */
const OF_DISKS = ['bindfs', 'fusermount3', 'mkfs.ext4', 'losetup', 'fsfreeze'];
/** What a pod with a stall that needs no disk of its own is made with. */
const OF_PODS = ['containerd', 'ctr', 'runc', '/bin/busybox', 'strace'];

/** Whether busybox runs without the machine's libraries, as it must in an image that holds nothing else. */
const isStatic = (file: string): boolean => !readFileSync(file).includes('/ld-linux');

/**
 * Why the lab cannot work on this machine, in one sentence, or null when it can. Loads a filesystem's module if need be.
 */
export function labUnavailable(): string | null {
  return podsUnavailable(Object.keys(PROGRAMS)) ?? disksUnavailable();
}

/** Why there can be no containerd with pods, and no call of theirs held by strace. */
export function podsUnavailable(programs: readonly string[] = OF_PODS): string | null {
  if (process.platform !== 'linux') return `the lab needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'the lab needs root: it mounts, freezes and traces';
  const missing = withoutPrograms(programs);
  if (missing !== null) return missing;
  if (!isStatic('/bin/busybox')) return 'the lab needs a static busybox (Debian: busybox-static)';
  if (!hasFilesystem('overlay')) return withoutFilesystem('overlay');
  if (!existsSync('/proc/self/stack')) return 'the lab needs /proc/<pid>/stack (a kernel with CONFIG_STACKTRACE)';
  return mayMount() ? null : 'the lab needs the right to mount (CAP_SYS_ADMIN), which is missing here';
}

/** Why there can be no slow and no frozen disk. */
export function disksUnavailable(): string | null {
  const missing = withoutPrograms(OF_DISKS);
  if (missing !== null) return missing;
  for (const name of ['fuse', 'ext4']) if (!hasFilesystem(name)) return withoutFilesystem(name);
  for (const device of ['/dev/fuse', '/dev/loop-control']) {
    if (!existsSync(device)) return `the lab needs ${device}, which is not there (a container without it?)`;
  }
  return null;
}

function withoutPrograms(programs: readonly string[]): string | null {
  const missing = missingPrograms(programs);
  if (missing.length === 0) return null;
  const packages = [...new Set(missing.map(program => PROGRAMS[program]))].join(' ');
  return `the lab needs ${missing.join(', ')} (Debian: node scripts/debian-packages.ts, or apt-get install ${packages})`;
}

const withoutFilesystem = (name: string) => `the lab needs the ${name} filesystem, which this kernel does not have`;

function hasFilesystem(name: string): boolean {
  const known = new RegExp(`\\t${name}$`, 'm').test(readFileSync('/proc/filesystems', 'utf8'));
  return known || spawnSync('modprobe', [name]).status === 0;
}

/** CAP_SYS_ADMIN (21) in the effective set. */
function mayMount(): boolean {
  const effective = /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${effective}`) & (1n << 21n)) !== 0n;
}
