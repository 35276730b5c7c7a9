import type { FileResult, Host } from '../../host/port.ts';
import { type Check, lacks, ok, warn } from './check.ts';

interface KernelFile {
  readonly name: string;
  readonly path: string;
  readonly what: string;
  /** What a kernel without it was built without. */
  readonly option: string;
}

const FILES: readonly KernelFile[] = [
  { name: 'stack', path: '/proc/self/stack', what: 'kernel stacks', option: 'CONFIG_STACKTRACE' },
  { name: 'syscall', path: '/proc/self/syscall', what: 'system calls', option: 'CONFIG_HAVE_ARCH_TRACEHOOK' },
  { name: 'sched', path: '/proc/self/sched', what: 'how long a thread has not run', option: 'CONFIG_SCHED_DEBUG' },
  { name: 'psi', path: '/proc/pressure/io', what: 'pressure stall information', option: 'CONFIG_PSI, or with psi=0' },
];

const READ_MS = 2000;

/** Files of this kernel that evidence comes from. */
export async function kernelFiles(host: Host): Promise<readonly Check[]> {
  const deadline = { deadlineMs: READ_MS, itemMs: 500 };
  const [files, kmsg] = await Promise.all([
    host.readRisky(
      FILES.map(({ path }) => ({ path })),
      deadline,
    ),
    host.kernelLog(4096, deadline),
  ]);
  return [...FILES.map((file, index) => judge(file, files[index])), judgeLog(kmsg)];
}

function judge({ name, path, what, option }: KernelFile, file: FileResult | undefined): Check {
  const outcome = file?.outcome ?? 'timeout';
  if (outcome === 'ok' || outcome === 'empty' || outcome === 'truncated') return ok(name, `${path} tells ${what}`);
  if (outcome === 'gone') return warn(name, `This kernel has no ${path} (built without ${option}): no ${what}.`);
  return lacks(name, `${path}: ${outcome}${file?.detail === undefined ? '' : `, ${file.detail}`}`);
}

function judgeLog({ outcome, detail }: FileResult): Check {
  const readable = outcome === 'ok' || outcome === 'empty' || outcome === 'truncated';
  if (readable) return ok('kmsg', "/dev/kmsg has the kernel's log");
  return lacks('kmsg', `/dev/kmsg: ${outcome}${detail === undefined ? '' : `, ${detail}`}`);
}
