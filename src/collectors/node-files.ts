import type { Evidence } from '../bundle/evidence.ts';
import type { FileResult } from '../host/port.ts';
import type { Collector } from './collector.ts';
import { deadlineOf, evidenceOf, isMissing, spanOf } from './evidence-of.ts';

const NO_PSI = 'this kernel has no pressure stall information (before 4.20, or CONFIG_PSI off, or psi=0)';

/** Name below /proc -> why it may be missing on a sound node. The kernel's command line is left out: it may hold secrets. */
const PROC_FILES: readonly { readonly name: string; readonly absentBecause?: string }[] = [
  { name: 'diskstats' },
  { name: 'pressure/io', absentBecause: NO_PSI },
  { name: 'pressure/memory', absentBecause: NO_PSI },
  { name: 'pressure/cpu', absentBecause: NO_PSI },
  { name: 'meminfo' },
  { name: 'vmstat' },
  { name: 'loadavg' },
  { name: 'stat' },
  { name: 'uptime' },
  { name: 'version' },
  { name: 'cgroups', absentBecause: 'this kernel has no cgroup v1' },
];

/** How long the kernel lets a task hang before it says so, how much may be dirty, and the limits behind EAGAIN and EMFILE. */
const SYSCTLS = [
  'kernel.hung_task_timeout_secs',
  'kernel.hung_task_check_interval_secs',
  'kernel.hung_task_warnings',
  'kernel.hung_task_panic',
  'kernel.hung_task_detect_count',
  'kernel.pid_max',
  'kernel.threads-max',
  'vm.dirty_ratio',
  'vm.dirty_bytes',
  'vm.dirty_background_ratio',
  'vm.dirty_background_bytes',
  'vm.dirty_expire_centisecs',
  'vm.dirty_writeback_centisecs',
  'fs.file-nr',
  'fs.inotify.max_user_instances',
] as const;

/** A node with 300 pods has some 2 MB of mounts. */
const MOUNTINFO_MAX = 16 * 1024 * 1024;

/** What the kernel says about the node as a whole. One request to a probe: mountinfo waits for whoever is mounting. */
export const nodeFiles: Collector = {
  name: 'node-files',
  phase: 'sweep',
  deadlineMs: 4000,
  async *collect(capture) {
    const files = await capture.host.readRisky(
      [
        ...PROC_FILES.map(({ name }) => ({ path: `/proc/${name}` })),
        ...SYSCTLS.map(name => ({ path: pathOfSysctl(name) })),
        // Of PID 1: stallcap itself may run in a mount namespace of its own.
        { path: '/proc/1/mountinfo', maxBytes: MOUNTINFO_MAX },
      ],
      deadlineOf(capture),
    );
    for (const [index, { name, absentBecause }] of PROC_FILES.entries()) {
      const file = files[index];
      if (file !== undefined) yield evidenceOf(`node/${name}`, switchedOff(file), absentBecause);
    }
    yield sysctls(files.slice(PROC_FILES.length, PROC_FILES.length + SYSCTLS.length));
    const mountinfo = files.at(-1);
    if (mountinfo !== undefined) yield evidenceOf('node/mountinfo', mountinfo);
  },
};

/** With psi=0 some kernels keep the files and answer every read with EOPNOTSUPP. */
function switchedOff(file: FileResult): FileResult {
  const off = file.outcome === 'error' && /EOPNOTSUPP|ENOTSUP/.test(file.detail ?? '');
  return off ? { ...file, outcome: 'absent' } : file;
}

/** The dots of a name are slashes of its path; none of the names above has a dot inside a component. */
function pathOfSysctl(name: string): string {
  return `/proc/sys/${name.replaceAll('.', '/')}`;
}

/** In the layout of sysctl(8): `kernel.pid_max = 32768`. What this kernel does not have is left out. */
function sysctls(files: readonly FileResult[]): Evidence {
  const lines = files.flatMap((file, index) => {
    if (isMissing(file)) return [];
    const value = file.outcome === 'ok' ? file.body.toString('utf8').trim() : `(${file.outcome})`;
    return [`${SYSCTLS[index]} = ${value}\n`];
  });
  const failed = files.filter(file => file.outcome !== 'ok' && !isMissing(file));
  const [first] = failed;
  const entry = { path: 'node/sysctl.txt', source: '/proc/sys', body: Buffer.from(lines.join('')), at: spanOf(files) };
  if (first === undefined) return { ...entry, outcome: 'ok' };
  return { ...entry, outcome: 'truncated', detail: `${failed.length} not read, first ${first.path}: ${first.outcome}` };
}
