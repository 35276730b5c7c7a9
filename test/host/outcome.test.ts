import { expect, test } from 'vitest';
import { outcomeOf } from '../../src/host/outcome.ts';

test.each([
  // Opened without CAP_SYS_ADMIN, and read without the right to attach: two errnos of one file.
  ['/proc/812/task/813/stack', 'EACCES', 'needs CAP_SYS_ADMIN'],
  ['/proc/812/task/813/stack', 'EPERM', 'needs CAP_SYS_PTRACE, and kernel.yama.ptrace_scope below 3'],
  ['/proc/812/syscall', 'EPERM', 'needs CAP_SYS_PTRACE, and kernel.yama.ptrace_scope below 3'],
  ['/proc/812/cwd', 'EACCES', 'needs CAP_SYS_PTRACE'],
  ['/dev/kmsg', 'EPERM', 'needs CAP_SYSLOG'],
  ['/run/containerd/x/config.json', 'EACCES', 'needs CAP_DAC_READ_SEARCH'],
])('%s with %s names the right that is missing', (path, errno, needs) => {
  expect(outcomeOf(errno, path)).toEqual({ outcome: 'denied', detail: `${errno}: ${needs}` });
});
